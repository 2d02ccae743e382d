"""People's behaviour: what a person does given what a learner believes, and which learner and parameters fit a person best."""
