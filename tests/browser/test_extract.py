"""An extract in a browser: asked for, decided by two reviewers, built, released and downloaded."""

from __future__ import annotations

import zipfile


def test_an_extract_from_request_to_download_with_two_reviewers(open_page):
    ann = open_page("ann", "/datasets/trial/request")
    ann.fill("#purpose", "Does age matter?")
    ann.fill("#where", "age >= 30")
    ann.check("text=csv")
    ann.click("text=Save as draft")
    ann.click("text=Submit for review")
    ann.wait_for_selector(".state.submitted")
    path = "/requests/" + ann.url.rpartition("/")[2]

    rita = open_page("rita", "/requests")
    rita.click(f"a[href='{path}']")
    rita.click("text=Start reviewing")
    rita.wait_for_selector("h3 >> text=Risk")
    assert rita.locator("h3 >> text=What it preserves").is_visible()
    rita.click("button:text-is('Return with a question')")
    assert "comment: is missing" in rita.locator("[role=alert]").inner_text()
    rita.fill("#comment", "Why from 30?")
    rita.click("button:text-is('Return with a question')")

    ann.reload()
    assert "Why from 30?" in ann.locator(".events").inner_text()
    ann.click("text=Change the request")
    ann.fill("#where", "age >= 40")
    ann.click("button:text-is('Save')")
    ann.click("text=Submit for review")
    ann.wait_for_selector(".state.submitted")

    rita.reload()
    assert "age >= 40" in rita.locator("section", has_text="Changed since it was returned").inner_text()
    rita.click("text=Start reviewing")
    rita.click("button:text-is('Approve')")
    carl = open_page("carl", path)
    carl.wait_for_selector("h3 >> text=Risk")  # the same figures, without another build
    carl.click("button:text-is('Approve')")
    carl.click("text=Build the extract")
    carl.wait_for_selector("h2 >> text=The built extract")
    rita.reload()
    rita.click("text=Release it")
    rita.wait_for_selector(".state.released")

    ann.reload()
    with ann.expect_download() as saved:
        ann.click("text=Download the extract")
    assert any(name.endswith("extract.csv") for name in zipfile.ZipFile(saved.value.path()).namelist())
