"""The OpenAPI document is kept to: whatever is asked by it, or against it, no answer is a failure of the server (schemathesis)."""

from __future__ import annotations

import pytest
import schemathesis
from exhaustive import few
from hypothesis import HealthCheck, Phase, given, settings
from samples.served import served_project
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance
from serving import client

from warehouse.surfaces.all_views import VIEWS

_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
OPERATIONS = [
    *((name, mode) for name in (*(view.name for view in VIEWS), "render_benchmark_run") for mode in (_POSITIVE, _NEGATIVE)),
    ("benchmark_contracts", _POSITIVE),  # it has nothing that could be wrong
]
_CHECKS = [schemathesis.checks.not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def test_every_view_is_documented_with_its_parameters() -> None:
    document = client(served_project()).get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for view in VIEWS:
        operation = document["paths"][f"/api{view.path}".replace(":path}", "}")]["post" if view.is_act else "get"]
        names = [each["name"] for each in operation["parameters"]]
        assert names == [*(each.name for each in view.parameters), "build", "format", "table"], view.name
        assert all(each["description"].endswith(".") for each in operation["parameters"]) and operation["description"].endswith("."), view.name


@pytest.mark.parametrize(("name", "mode"), few(OPERATIONS, 4))
def test_no_request_makes_the_server_fail(name: str, mode: GenerationMode) -> None:
    asked = client(served_project(), requests_a_minute=1_000_000)
    schema = schemathesis.openapi.from_dict(asked.get("/api/openapi.json").json())
    operation = next(each.ok() for each in schema.get_all_operations() if each.ok().definition.raw["operationId"] == name)
    statuses = set()

    @settings(max_examples=25, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        body = case.body
        content = {} if isinstance(body, schemathesis.core.NotSet) else {"content": body} if isinstance(body, bytes) else {"json": body}
        response = asked.request(case.method, case.formatted_path, params=case.query, headers=dict(case.headers or {}), **content)
        statuses.add(response.status_code)
        case.validate_response(response, checks=_CHECKS)

    ask()
    assert statuses
