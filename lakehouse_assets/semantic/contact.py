"""One spelling of e-mails and phone numbers, and which of them tell a person.

- e-mail: trimmed, lower case, what follows the first `+` of the local part left out. Dots stay:
  that they mean nothing is one provider's habit. Not one `@` between something and a name with a
  dot: NULL. A mailbox of a role (ROLES) belongs to nobody.
- phone: E.164. An extension (`ext`, `x`, `#`) is cut off, and what `tel:` puts around a number;
  `+` or `00` begin an international number, in which `(0)` is nobody's digit; any other is national
  and needs a country whose dialling we know: its trunk digit goes, its calling code comes, unless
  it is there: then the number is too long for a national one, and as long as one, or a digit less,
  without it. Not 8 to 15 digits: NULL.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

ROLES = (
    "accounts", "admin", "billing", "contact", "hello", "help", "hr", "info", "mail", "noreply",
    "no-reply", "office", "orders", "postmaster", "sales", "service", "shop", "support", "team",
    "webmaster",
)  # fmt: skip
# By country the calling code, the trunk digit, and the digits of the longest number after either:
# ITU-T E.164 and its national plans.
DIALLED = {
    "US": ("1", "1", 10), "CA": ("1", "1", 10), "GB": ("44", "0", 10), "DE": ("49", "0", 11),
    "FR": ("33", "0", 9), "AU": ("61", "0", 9), "AT": ("43", "0", 13), "BE": ("32", "0", 9),
    "BR": ("55", "0", 11), "CH": ("41", "0", 9), "CZ": ("420", "", 9), "DK": ("45", "", 8),
    "ES": ("34", "", 9), "FI": ("358", "0", 12), "GR": ("30", "", 10), "IE": ("353", "0", 9),
    "IL": ("972", "0", 9), "IN": ("91", "0", 10), "IT": ("39", "", 11), "JP": ("81", "0", 10),
    "KR": ("82", "0", 11), "LU": ("352", "", 11), "MX": ("52", "", 10), "NL": ("31", "0", 9),
    "NO": ("47", "", 8), "NZ": ("64", "0", 10), "PL": ("48", "", 9), "PT": ("351", "", 9),
    "SE": ("46", "0", 9), "SG": ("65", "", 8), "TR": ("90", "0", 10), "ZA": ("27", "0", 9),
}  # fmt: skip
_MAILBOX = r"^[^ \t\r\n@]+@[^ \t\r\n@.]+([.][^ \t\r\n@.]+)+\z"
_NUMBER = r"^[1-9][0-9]{7,14}\z"


def normalized(records: DataFrame) -> DataFrame:
    """With `email_normalized` and `phone_normalized`, of `email`, `phone` and `country`."""
    whole = F.regexp_replace("phone", "(?is)(ext|x|#).*", "")
    said = F.trim(F.regexp_replace(whole, "(?is)^ *tel:([^;]*).*", "$1"))
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
        f"when '{code}' then if({_begins_with(calling, longest)}, _abroad, "
        f"concat('{calling}', {_without(trunk)}))"
        for code, (calling, trunk, longest) in DIALLED.items()
    )


def _begins_with(calling: str, longest: int) -> str:
    least = max(longest + 1, longest - 1 + len(calling))
    length = f"length(_abroad) between {least} and {longest + len(calling)}"
    return f"startswith(_abroad, '{calling}') and {length}"


def _without(trunk: str) -> str:
    return f"if(startswith(_home, '{trunk}'), substr(_home, 2), _home)" if trunk else "_home"


def personal(mailbox: str) -> str:
    """SQL: the mailbox, unless it is a role's."""
    roles = ", ".join(f"'{role}'" for role in ROLES)
    return f"if(substring_index({mailbox}, '@', 1) in ({roles}), null, {mailbox})"
