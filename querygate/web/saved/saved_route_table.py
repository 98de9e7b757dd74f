"""The routes about what people keep."""

from __future__ import annotations

from querygate.core.rights import Right
from querygate.web.route import API, Parameter, Route

ASK: tuple[Right, ...] = ("ask",)
SAVED = Parameter("saved_id", "path", "The `id` of the saved query.", {"type": "string"})
WHOSE = Parameter(
    "whose",
    "query",
    "own: what you have saved. shared: what others share about datasets that you may ask.",
    {"enum": ["own", "shared"], "default": "own"},
)

SAVED_ROUTES: tuple[Route, ...] = (
    Route(
        "list_saved",
        "GET",
        f"{API}/saved",
        "List saved queries: your own, or those that others share with you.",
        ASK,
        gives="SavedQueries",
        parameters=(WHOSE,),
    ),
    Route(
        "save_query",
        "POST",
        f"{API}/saved",
        "Save a query under a name, for yourself or for everybody who may ask the dataset. Sharing is logged.",
        ASK,
        gives="SavedQuery",
        body="NewSavedQuery",
        codes=("QG303", "QG806"),
    ),
    Route(
        "show_saved",
        "GET",
        f"{API}/saved/{{saved_id}}",
        "Get a saved query: one of your own, or one that is shared with you.",
        ASK,
        gives="SavedQuery",
        parameters=(SAVED,),
        codes=("QG324",),
    ),
    Route(
        "change_saved",
        "PUT",
        f"{API}/saved/{{saved_id}}",
        "Rename, change or share a saved query of your own, or stop sharing it. What others can see of it is logged.",
        ASK,
        gives="SavedQuery",
        body="SavedQueryChange",
        parameters=(SAVED,),
        codes=("QG303", "QG324", "QG806"),
    ),
    Route(
        "delete_saved",
        "DELETE",
        f"{API}/saved/{{saved_id}}",
        "Delete a saved query of your own, and get it once more. It is logged if it was shared.",
        ASK,
        gives="SavedQuery",
        parameters=(SAVED,),
        codes=("QG324",),
    ),
)
