"""One spelling of e-mails and phone numbers, and which of them tell a person.

- e-mail: trimmed, lower case, what follows the first `+` of the local part left out. Dots stay:
  that they mean nothing is one provider's habit. Not one `@` between something and a name with a
  dot: NULL. A mailbox of a role (ROLES) belongs to nobody.
- phone: E.164. An extension (`ext`, `x`, `#`) is cut off; `+` or `00` begin an international
  number, in which `(0)` is nobody's digit; any other is national and needs a country whose dialling
  we know: its trunk digit goes, its calling code comes. Not 8 to 15 digits: NULL.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

ROLES = (
    "accounts", "admin", "billing", "contact", "hello", "help", "hr", "info", "mail", "noreply",
    "no-reply", "office", "orders", "postmaster", "sales", "service", "shop", "support", "team",
    "webmaster",
)  # fmt: skip
DIALLED = {  # calling code and trunk digit by country: ITU-T E.164 and its national plans
    "US": ("1", "1"), "CA": ("1", "1"), "GB": ("44", "0"), "DE": ("49", "0"), "FR": ("33", "0"),
    "AU": ("61", "0"), "AT": ("43", "0"), "BE": ("32", "0"), "BR": ("55", "0"), "CH": ("41", "0"),
    "CZ": ("420", ""), "DK": ("45", ""), "ES": ("34", ""), "FI": ("358", "0"), "GR": ("30", ""),
    "IE": ("353", "0"), "IL": ("972", "0"), "IN": ("91", "0"), "IT": ("39", ""), "JP": ("81", "0"),
    "KR": ("82", "0"), "LU": ("352", ""), "MX": ("52", ""), "NL": ("31", "0"), "NO": ("47", ""),
    "NZ": ("64", "0"), "PL": ("48", ""), "PT": ("351", ""), "SE": ("46", "0"), "SG": ("65", ""),
    "TR": ("90", "0"), "ZA": ("27", "0"),
}  # fmt: skip
_MAILBOX = r"^[^ \t\r\n@]+@[^ \t\r\n@.]+([.][^ \t\r\n@.]+)+\z"
_NUMBER = r"^[1-9][0-9]{7,14}\z"


def normalized(records: DataFrame) -> DataFrame:
    """With `email_normalized` and `phone_normalized`, of `email`, `phone` and `country`."""
    said = F.trim(F.regexp_replace("phone", "(?is)(ext|x|#).*", ""))
    parts = records.withColumn("_said", said).withColumns({
        "_home": F.regexp_replace("_said", "[^0-9]", ""),
        "_abroad": F.regexp_replace(F.replace("_said", F.lit("(0)"), F.lit("")), "[^0-9]", ""),
    })  # fmt: skip
    number = parts.withColumn("_number", F.expr(
        "case when startswith(_said, '+') then _abroad"
        " when startswith(_home, '00') then substr(_abroad, 3)"
        f" else case country {_dialled()} end end"
    ))  # fmt: skip
    return number.withColumns({
        "email_normalized": mailbox("email"),
        "phone_normalized": F.when(
            F.col("_number").rlike(_NUMBER), F.concat(F.lit("+"), "_number")
        ),
    }).drop("_said", "_home", "_abroad", "_number")  # fmt: skip


def mailbox(email: str) -> Column:
    """The mailbox that is meant."""
    said = F.lower(F.trim(email))
    local = F.substring_index(F.substring_index(said, "@", 1), "+", 1)
    whole = F.concat(local, F.lit("@"), F.substring_index(said, "@", -1))
    return F.when(said.rlike(_MAILBOX) & (local != ""), whole)


def _dialled() -> str:
    """SQL: of each country, how its national numbers are dialled from abroad."""
    return " ".join(
        f"when '{code}' then concat('{calling}', {_without(trunk)})"
        for code, (calling, trunk) in DIALLED.items()
    )


def _without(trunk: str) -> str:
    return f"if(startswith(_home, '{trunk}'), substr(_home, 2), _home)" if trunk else "_home"


def personal(mailbox: str) -> str:
    """SQL: the mailbox, unless it is a role's."""
    roles = ", ".join(f"'{role}'" for role in ROLES)
    return f"if(substring_index({mailbox}, '@', 1) in ({roles}), null, {mailbox})"
