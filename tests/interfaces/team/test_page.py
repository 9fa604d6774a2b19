"""The page of the workspaces, in a real Chromium: an admin sets up people by keyboard, and a reader sees their part."""

from pathlib import Path

import pytest
from explorer_steps import faults_on
from playwright.sync_api import Page, expect
from teams import team

pytestmark = pytest.mark.chromium
pytest_plugins = ["explorer_page"]


@pytest.fixture
def allowed_errors() -> list[str]:
    """Nobody has sent a token yet."""
    return ["401"]


def test_an_admin_sets_up_people_by_keyboard(lone_page: Page, tmp_path: Path) -> None:
    page = lone_page
    with team(tmp_path) as made:
        token = made.host.people.token("owner").text
        page.goto(made.address)
        page.get_by_role("textbox", name="Token").fill(token)
        page.keyboard.press("Enter")
        expect(page.get_by_text("No workspace yet")).to_be_visible()
        for label, value, done in (
            ("Name", "contracts", "contracts is there."),
            ("Name", "eve", "eve is a user."),
        ):
            form = page.get_by_role("form", name="New workspace" if value == "contracts" else "Add a user")
            form.get_by_label(label, exact=True).fill(value)
            page.keyboard.press("Enter")
            expect(page.get_by_text(done)).to_be_visible()
        form = page.get_by_role("form", name="Let somebody in")
        form.get_by_label("Workspace").fill("contracts")
        form.get_by_label("Who").fill("user:eve")
        form.get_by_label("Documents of a reader").fill("department = legal")
        page.keyboard.press("Enter")
        expect(page.get_by_text("eve is reader in contracts.")).to_be_visible()
        assert faults_on(page) == []
        page.get_by_role("row", name="eve").get_by_role("button", name="Token").press("Enter")
        expect(page.get_by_text("It is shown only now")).to_be_visible()
        shown = page.locator("code").inner_text()
        person = made.host.people.by_token(shown)
        assert person is not None
        right = person.right_in(made.host.workspaces.id_of("contracts"))
        assert right is not None and right.where == ("department = legal",)
        page.get_by_role("button", name="Delete").press("Enter")
        page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
        expect(page.get_by_text("contracts is deleted.")).to_be_visible()
