"""What is asked of the running Dagster: importing Dagster itself would take two seconds."""

import time
from typing import Any

import click

ANSWER_S = 30
LAUNCH_S = 180  # a job of all checks is planned by the code server, check by check
POLL_S = 0.5
GOING = """{ runsOrError(
    filter: {statuses: [QUEUED, NOT_STARTED, STARTING, STARTED, CANCELING]}, limit: 1
) { ... on Runs { results { id } } } }"""
PLACES = """{ repositoriesOrError { ... on RepositoryConnection { nodes {
    name location { name } jobs { name } } } } }"""
LAUNCH = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on Error { message } } }"""
STATUS = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
EVENTS = """query($id: ID!, $after: String) { runOrError(runId: $id) { ... on Run {
    eventConnection(afterCursor: $after) { cursor hasMore events {
        ... on AssetCheckEvaluationEvent { evaluation {
            success severity checkName assetKey { path } } } } } } } }"""
CHECKS = """{ assetNodes { assetChecksOrError { ... on AssetChecks { checks {
    name assetKey { path } } } } } }"""
OVER = ("SUCCESS", "FAILURE", "CANCELED")


def ask(query: str, patience_s: float = ANSWER_S, **variables: Any) -> Any:
    from lakehouse_assets.services import rest
    from lakehouse_assets.services.dagster import Webserver
    from lakehouse_assets.services.host import ServiceError

    body = {"query": query, "variables": variables}
    try:
        said = rest.ask(f"{Webserver().url}/graphql", "POST", body, patience_s)
    except ServiceError as error:
        raise ServiceError(f"Dagster: {error}; see `lakehouse logs dagster`") from error
    if said.get("errors"):
        raise click.ClickException(f"Dagster: {said['errors'][0]['message']}")
    return said["data"]


def runs_going() -> bool:
    return bool(ask(GOING)["runsOrError"]["results"])


def launch(job: str) -> str:
    """Start a job as its button in the UI does; returns the run's id."""
    nodes = ask(PLACES)["repositoriesOrError"]["nodes"]
    place = next(n for n in nodes if job in [j["name"] for j in n["jobs"]])
    selector = {
        "repositoryName": place["name"], "repositoryLocationName": place["location"]["name"],
        "jobName": job,
    }  # fmt: skip
    params = {"selector": selector, "runConfigData": "{}", "mode": "default"}
    found = ask(LAUNCH, LAUNCH_S, params=params)["launchRun"]
    if found["__typename"] != "LaunchRunSuccess":
        raise click.ClickException(f"Dagster did not start {job}: {found.get('message', found)}")
    return str(found["run"]["runId"])


def finished(run_id: str, patience_s: float) -> str:
    """Wait for its end and return its status."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        status = str(ask(STATUS, id=run_id)["runOrError"]["status"])
        if status in OVER:
            return status
        time.sleep(POLL_S)
    raise click.ClickException(f"run {run_id} is not over after {patience_s} s; see "
                               "`lakehouse logs dagster-daemon`")  # fmt: skip


def verdicts(run_id: str) -> dict[str, str]:
    """Every check that there is: passed, warned or failed in that run. One it left out failed."""
    nodes = [node["assetChecksOrError"].get("checks", []) for node in ask(CHECKS)["assetNodes"]]
    found = {
        _name(check["assetKey"], check["name"]): "failed" for checks in nodes for check in checks
    }
    after, has_more = None, True
    while has_more:
        page = ask(EVENTS, id=run_id, after=after)["runOrError"]["eventConnection"]
        after, has_more = page["cursor"], page["hasMore"]
        for told in (event["evaluation"] for event in page["events"] if event.get("evaluation")):
            missed = "warned" if told["severity"] == "WARN" else "failed"
            name = _name(told["assetKey"], told["checkName"])
            found[name] = "passed" if told["success"] else missed
    return found


def _name(asset_key: dict[str, Any], check: str) -> str:
    return f"{'.'.join(asset_key['path'])}: {check}"
