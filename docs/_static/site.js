// For the keyboard and for screen readers: what scrolls can be focused, and what the theme leaves unnamed has a name.
function markScrolling() {
  for (const one of document.querySelectorAll(".bd-article table, .bd-article math[display=block]")) {
    if (one.scrollWidth > one.clientWidth + 1) one.setAttribute("tabindex", "0"); else one.removeAttribute("tabindex");
  }
}
addEventListener("resize", markScrolling);
addEventListener("load", () => {
  markScrolling();
  for (const one of document.querySelectorAll(".search-button-field")) one.removeAttribute("aria-label"); // its text says "Search Ctrl + K"
  for (const one of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const link = one.closest("li")?.querySelector("a");
    one.setAttribute("aria-label", `Pages under ${link ? link.textContent.trim() : "this one"}`);
  }
});
