"""The application: for each view a page and the same as data under `/api`, and what is not a view: contracts, verification, signing in."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import Annotated, Any
from urllib.parse import quote

import anyio.to_thread
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.routing import Route

from warehouse.analysis.contracts.document import contracts_document, document_bytes
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.landing.declaration.generator import render_benchmark_run
from warehouse.project.project import Project
from warehouse.surfaces.all_views import VIEWS
from warehouse.surfaces.answering import Answer, Answers, Question
from warehouse.surfaces.formats import MEDIA_TYPES, chosen_table, error_document, json_bytes, page_document, public, table_bytes
from warehouse.surfaces.hot_metrics.exposition import exposition
from warehouse.surfaces.html.pages import MARKDOWN, assets, error_html, llms_text, login_html, markdown_text, page_html
from warehouse.surfaces.view import View
from warehouse.surfaces.views.sql import QUERIES
from warehouse.surfaces.web.downloads import add_downloads
from warehouse.surfaces.web.guard import COOKIE, LOOPBACK, Guard, Receive, Scope, Send
from warehouse.surfaces.web.openapi import documented, view_parameters
from warehouse.surfaces.web.tokens import Tokens
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import json_value
from warehouse.version import __version__

_THREADS = 200
_STATUS = {
    ExitCode.USAGE: 400, ExitCode.NOT_FOUND: 404, ExitCode.AMBIGUOUS: 409, ExitCode.TAMPERED: 409, ExitCode.MISSING: 404, ExitCode.FAILED: 409,
}
_STATUS_OF_CODE = {"WH211": 404, "WH213": 400, "WH215": 422, "WH114": 503, "WH602": 401, "WH603": 403, "WH604": 429, "WH131": 400, "WH605": 422}
_MEDIA = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


class _WholePath(PathConvertor):
    """The rest of a path, line breaks included: a file's name may have them."""

    regex = "(?s:.*)"


register_url_convertor("path", _WholePath())


def application(project: Project, hosts: frozenset[str] = LOOPBACK, requests_a_minute: float = 3000, needs_token: bool = False) -> Guard:
    """The guarded application of a project, which answers to the names in `hosts`. `needs_token`: also where there are no tokens."""
    answers, tokens = Answers(project), Tokens(project)
    sessions = _agents(answers)
    app = FastAPI(
        title=f"wh: {project.name}", version=__version__, docs_url=None, redoc_url=None, openapi_url=None,
        lifespan=_lifespan(answers, sessions),
    )
    if sessions:
        app.router.routes.append(Route("/mcp", sessions))
    for view in VIEWS:
        _add_view(app, answers, view)
    _add_contracts(app, project)
    _add_entry(app, project, tokens)
    add_downloads(app, project)
    _add_fixed(app, project)

    # The framework calls a handler with the class that it is added for, and types it as any exception.
    def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, WarehouseError)
        return _error(request.scope, error, _STATUS_OF_CODE.get(error.code, _STATUS[error.exit_code]), project)

    def not_found(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = "there is no such page" if error.status_code == 404 else str(error.detail)
        return _error(request.scope, WarehouseError("WH601", message, request.url.path), error.status_code, project)

    def not_read(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        told = error.errors()[0]
        place = ".".join(map(str, told["loc"]))
        return _error(request.scope, WarehouseError("WH601", printable(str(told["msg"])), printable(place)), 400, project)

    app.add_exception_handler(RequestValidationError, not_read)
    app.add_exception_handler(WarehouseError, failed)
    app.add_exception_handler(HTTPException, not_found)
    return Guard(app, tokens, hosts, requests_a_minute, lambda scope, error, status: _refusal(scope, error, status, project), needs_token)


async def _sent(request: Request) -> list[tuple[str, str]]:
    """The fields of a form that was sent; files are none."""
    if request.method != "POST":
        return []
    return [(name, value) for name, value in (await request.form()).multi_items() if isinstance(value, str)]


Sent = Annotated[list[tuple[str, str]], Depends(_sent)]


def _lifespan(answers: Answers, sessions: Any) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        # Threads that wait for an answer that another one computes must not keep all others from being answered.
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        await anyio.to_thread.run_sync(_prepare, answers)
        async with sessions.session_manager.run() if sessions else nullcontext():
            yield

    return running


def _prepare(answers: Answers) -> None:
    """Make the first page, whose libraries take a second to load, and start the processes of the first queries before any visitor waits."""
    with suppress(WarehouseError):
        answers.answer(answers.question(VIEWS[0], [], {}))
    with suppress(WarehouseError):
        QUERIES.prepare(current_build(answers.project).path)


def _agents(answers: Answers) -> Any:
    """What answers MCP under `/mcp`; None where the optional package is not installed."""
    try:
        from warehouse.surfaces.agents.server import http_application
    except ImportError:
        return None
    return http_application(answers)


def _add_view(app: FastAPI, answers: Answers, view: View) -> None:
    def _asked(request: Request, given: list[tuple[str, str]], path: Mapping[str, str] | None = None) -> Question:
        state = request.scope.get("state", {})
        return answers.question(view, given, path or request.path_params, state.get("visitor", ""), state.get("role") or "read")

    def _packed(request: Request, tag: str, media: str, make: Callable[[], bytes]) -> Response:
        """What was made, compressed for those who take that; kept as it is sent."""
        is_packed = "gzip" in request.headers.get("accept-encoding", "")

        def packed() -> bytes:
            return gzip.compress(make(), 6, mtime=0) if is_packed else make()

        body = answers.body(view, f"{tag} {is_packed}", packed)
        headers = {"Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if is_packed else {})}
        return _tagged(Response(body, media_type=media, headers=headers), tag, view)

    def html(request: Request, sent: Sent) -> Response:
        asked = _asked(request, [*request.query_params.multi_items(), *sent])
        tag = f'W/"{asked.key[:32]}-html"'
        if _has(request, tag) and view.is_kept:
            return _not_modified(tag)
        return _packed(request, tag, "text/html; charset=utf-8", lambda: page_html(answers.answer(asked), answers.project.name).encode())

    def data(request: Request, sent: Sent) -> Response:
        given = [*request.query_params.multi_items(), *sent]
        own, rest = _format_of(given)
        asked = _asked(request, rest)
        tag = f'W/"{asked.key[:32]}-{own["format"]}-{quote(own["table"] or "", errors="replace")}"'
        if _has(request, tag) and view.is_kept:
            return _not_modified(tag)
        response = _packed(request, tag, MEDIA_TYPES[own["format"]], lambda: _data(answers.answer(asked), own["format"], own["table"]))
        if own["format"] != "json":
            response.headers["Content-Disposition"] = f'attachment; filename="{view.name}.{own["format"]}"'
        return response

    def markdown(request: Request) -> Response:
        """The page as Markdown. Where the last value of its path really has that ending, such as the name of a file, it is the page of that."""
        if request.path_params:
            last = list(request.path_params)[-1]
            with suppress(WarehouseError):
                whole = request.path_params | {last: f"{request.path_params[last]}{MARKDOWN}"}
                answers.answer(_asked(request, request.query_params.multi_items(), whole))
                request.scope["path_params"] = whole
                return html(request, [])
        asked = _asked(request, request.query_params.multi_items())
        tag = f'W/"{asked.key[:32]}-md"'
        if _has(request, tag) and view.is_kept:
            return _not_modified(tag)
        return _packed(request, tag, "text/markdown; charset=utf-8", lambda: markdown_text(answers.answer(asked)).encode())

    pages = [view.path, "/"] if view is VIEWS[0] else [view.path]
    if not view.is_act:
        app.add_api_route(f"{view.path}{MARKDOWN}", markdown, methods=["GET", "HEAD"], include_in_schema=False)
    for path in pages:
        app.add_api_route(path, html, methods=["POST"] if view.is_act else ["GET", "HEAD"], include_in_schema=False, name=view.name)
    app.add_api_route(
        f"/api{view.path}", data, methods=["POST" if view.is_act else "GET"], name=f"{view.name} data", operation_id=view.name, summary=view.title,
        description=view.description, response_class=Response, openapi_extra={"parameters": view_parameters(view)},
    )


def _data(found: Answer, form: str, table: str | None) -> bytes:
    """An answer as JSON, or one of its tables in another format."""
    if form != "json":
        return table_bytes(chosen_table(found.page, table), form)
    head = {"view": found.view.name, "build_digest": found.build.digest if found.build else None, "parameters": json_value(dict(found.values))}
    return json_bytes(head | page_document(found.page))


def _format_of(given: list[tuple[str, str]]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """`format` and `table`, and the other parameters. Raises WH601."""
    own: dict[str, Any] = {"format": "json", "table": None}
    rest, seen = [], set()
    for name, text in given:
        if name in own and name not in seen:
            own[name] = text or own[name]
            seen.add(name)
        else:
            rest.append((name, text))
    if own["format"] not in MEDIA_TYPES:
        raise WarehouseError("WH601", f"format is not {printable(own['format'])!r}", "format", f"one of: {', '.join(MEDIA_TYPES)}", ExitCode.USAGE)
    return own, rest


def _add_contracts(app: FastAPI, project: Project) -> None:
    def contracts(request: Request) -> Response:
        for name in request.query_params:
            raise WarehouseError("WH601", f"benchmark_contracts has no parameter {printable(name)!r}", printable(name), exit_code=ExitCode.USAGE)
        return Response(document_bytes(contracts_document(project)), media_type="application/json")

    def render(fields: dict[str, Any]) -> Response:
        return JSONResponse({"yaml": render_benchmark_run(project, fields).text})

    app.add_api_route(
        "/api/benchmark/contracts", contracts, methods=["GET"], operation_id="benchmark_contracts", response_class=Response,
        summary="The contract document", description="What this warehouse promises: the same bytes as `wh contracts --json`.",
    )
    app.add_api_route(
        "/api/benchmark/contracts/render-run", render, methods=["POST"], operation_id="render_benchmark_run", response_model=dict[str, Any],
        summary="Render a BenchmarkRun", description="A BenchmarkRun in YAML that passes `wh validate`.",
    )


def _add_entry(app: FastAPI, project: Project, tokens: Tokens) -> None:
    def form(request: Request) -> Response:
        return HTMLResponse(login_html(project.name, "", _local(request.query_params.get("to", "/"))))

    async def enter(request: Request) -> Response:
        given = await request.form()
        to, text = _local(str(given.get("to") or "/")), str(given.get("token") or "")
        if not tokens.holder(text):
            return HTMLResponse(login_html(project.name, "That token is not valid here.", to), 401)
        response = RedirectResponse(to, 303)
        response.set_cookie(COOKIE, text, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/")
        return response

    def leave() -> Response:
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE)
        return response

    app.add_api_route("/login", form, methods=["GET"], include_in_schema=False)
    app.add_api_route("/login", enter, methods=["POST"], include_in_schema=False)
    app.add_api_route("/logout", leave, methods=["POST"], include_in_schema=False)


def _local(to: str) -> str:
    """A path of these pages, and nothing that a browser would take for another site's address."""
    return to if to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() else "/"


def _add_fixed(app: FastAPI, project: Project) -> None:
    files = dict(assets())

    def asset(name: str) -> Response:
        if name not in files:
            raise HTTPException(404)
        return Response(files[name], media_type=_MEDIA[name.rpartition(".")[2]], headers={"Cache-Control": "max-age=3600"})

    def metrics() -> Response:
        return Response(exposition(project), media_type="text/plain; version=0.0.4; charset=utf-8")

    def llms() -> Response:
        return Response(llms_text(project.name), media_type="text/plain; charset=utf-8")

    def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    document = documented(app)

    def schema() -> Response:
        return JSONResponse(document())

    app.add_api_route("/assets/{name}", asset, methods=["GET"], include_in_schema=False)
    app.add_api_route("/metrics", metrics, methods=["GET"], include_in_schema=False)
    app.add_api_route("/llms.txt", llms, methods=["GET"], include_in_schema=False)
    app.add_api_route("/healthz", healthz, methods=["GET"], include_in_schema=False)
    app.add_api_route("/api/openapi.json", schema, methods=["GET"], include_in_schema=False)


def _has(request: Request, tag: str) -> bool:
    return tag in [each.strip() for each in request.headers.get("if-none-match", "").split(",")]


def _not_modified(tag: str) -> Response:
    return Response(status_code=304, headers={"ETag": tag, "Cache-Control": "private, no-cache"})


def _tagged(response: Response, tag: str, view: View) -> Response:
    response.headers.update({"ETag": tag, "Cache-Control": "private, no-cache"} if view.is_kept else {"Cache-Control": "no-store"})
    return response


def _error(scope: Scope, error: WarehouseError, status: int, project: Project) -> Response:
    if scope["path"].startswith("/api"):
        return Response(json_bytes(error_document(error, project)), status, media_type="application/json")
    return HTMLResponse(error_html(public(error, project), status, project.name), status)


def _refusal(scope: Scope, error: WarehouseError, status: int, project: Project) -> Callable[[Scope, Receive, Send], Any]:
    """What a refused visitor gets; one without a token, whose browser asks for a page, the page to sign in."""
    if status == 401 and scope["method"] == "GET" and not scope["path"].startswith(("/api", "/metrics", "/mcp")):
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        return RedirectResponse(f"/login?to={quote(scope['path'] + query)}", 303)
    response = _error(scope, error, status, project)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


