"""Reports as pages: every template, and the one function that fills them."""
