from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.connect.client.retries import DefaultPolicy

from lakehouse_assets import settings, trouble
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.secrets import secrets_file
from lakehouse_assets.services.spark import Spark, connect_url, spark_token


@pytest.fixture(scope="module")
def spark(module_lake: Path) -> Iterator[Spark]:
    spark = Spark()
    spark.start()
    yield spark
    spark.stop()


@pytest.fixture
def process(spark: Spark) -> psutil.Process:
    spark.start()
    pid = spark.status().pid
    assert pid is not None
    return psutil.Process(pid)


@contextmanager
def session(url: str) -> Iterator[SparkSession]:
    """Ended while the server lives: PySpark would else retry its farewell for ten minutes."""
    spark = SparkSession.builder.remote(url).create()
    try:
        yield spark
    finally:
        spark.stop()


def use_catalog(spark: SparkSession, folder: Path) -> None:
    lake = "spark.sql.catalog.lake"
    spark.conf.set(lake, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{lake}.catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog")
    spark.conf.set(f"{lake}.uri", f"jdbc:sqlite:{folder}/catalog.db")
    spark.conf.set(f"{lake}.jdbc.schema-version", "V1")
    spark.conf.set(f"{lake}.warehouse", str(folder / "warehouse"))


# The first of all, since Spark starts a program for each session that has ended, in its own time.
def test_files_are_made_without_a_program_being_started_for_each(
    process: psutil.Process, tmp_path: Path
) -> None:
    def of_programs() -> float:
        told = process.cpu_times()
        return float(told.children_user + told.children_system)

    with session(connect_url()) as spark:
        use_catalog(spark, tmp_path)
        spark.sql("create namespace lake.raw")
        spark.sql("create table lake.raw.many (id bigint) using iceberg")
        before = of_programs()
        for number in range(30):
            spark.sql(f"insert into lake.raw.many values ({number})")
        assert of_programs() == before
    made = list((tmp_path / "warehouse").rglob("*.parquet"))
    assert len(made) == 30 and {file.stat().st_mode & 0o777 for file in made} == {0o644}


def test_two_sessions_of_one_server_see_their_own_lakes(process: object, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with session(connect_url()) as spark:
            use_catalog(spark, tmp_path / name)
            spark.sql("create namespace lake.raw")
            spark.sql(f"create table lake.raw.{name} (id bigint) using iceberg")
            spark.sql(f"insert into lake.raw.{name} values (1), (2)")
            tables = spark.sql("show tables in lake.raw").collect()
            assert [row.tableName for row in tables] == [name]
            assert spark.table(f"lake.raw.{name}").count() == 2


def test_a_wrong_token_is_refused(process: object) -> None:
    with (
        session(connect_url().replace(spark_token(), "guessed")) as stranger,
        pytest.raises(PySparkException, match="Invalid authentication token"),
    ):
        stranger.range(1).collect()


def test_the_token_is_in_a_private_file_and_on_no_command_line(process: psutil.Process) -> None:
    assert secrets_file().stat().st_mode & 0o777 == 0o600
    assert spark_token() in secrets_file().read_text()
    assert spark_token() not in " ".join(process.cmdline())


def test_it_listens_on_loopback_only(
    process: psutil.Process, listens_on: Callable[[int], set[str]]
) -> None:
    assert listens_on(process.pid) == {"127.0.0.1"}


def test_it_answers_again_after_kill_9_with_the_same_token(
    spark: Spark, process: psutil.Process
) -> None:
    url = connect_url()
    process.kill()
    assert spark.start() is True
    assert connect_url() == url
    with session(url) as client:
        assert client.range(10).count() == 10


def test_a_server_that_goes_away_in_mid_session_is_told_and_not_in_grpc(
    spark: Spark, process: object
) -> None:
    with session(connect_url()) as client:
        client.client.set_retry_policies([DefaultPolicy(max_retries=1)])
        spark.stop()
        with pytest.raises(PySparkException) as gone:
            client.range(1).collect()
    said = str(trouble.told(gone.value))
    assert f"Spark at 127.0.0.1:{settings.port('spark')} was stopped or killed" in said
    assert "`lakehouse up spark`" in said and "grpc" not in said.lower()


def test_what_kafka_did_not_answer_to_spark_is_told_as_kafkas() -> None:
    said = "Timed out waiting for a node assignment. Call: listNodes"
    error = PySparkException(f"(x) org.apache.kafka.common.errors.TimeoutException: {said}\n\tat x")
    told = str(trouble.told(error))
    assert f"Kafka does not answer Spark at {settings.kafka_bootstrap()} ({said})" in told


def test_an_error_about_a_remote_server_does_not_show_its_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAKEHOUSE_SPARK_REMOTE", "sc://127.0.0.1:1/;token=s3cret")
    with pytest.raises(ServiceError, match=r"sc://127\.0\.0\.1:1/ does not answer") as error:
        Spark().start()
    assert "s3cret" not in str(error.value)
