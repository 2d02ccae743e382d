(function () {
"use strict";
$parts})();
