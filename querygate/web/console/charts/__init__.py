"""Pictures: geometry only, computed here and drawn by templates, so that a picture is text that a browser, a paper and
a test can read."""
