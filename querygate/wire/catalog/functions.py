"""Functions of PostgreSQL that tools call on its catalog, as macros of the engine."""

from __future__ import annotations

from querygate.sql.postgres.catalog_growth import BOUNDED, LONGEST_VALUE

_TRUE = (
    "pg_type_is_visible", "pg_function_is_visible", "pg_collation_is_visible",
    "pg_operator_is_visible", "pg_opclass_is_visible", "pg_conversion_is_visible", "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible", "pg_ts_dict_is_visible", "pg_ts_parser_is_visible", "pg_ts_template_is_visible",
)  # fmt: skip
_FALSE = (
    "pg_is_in_recovery", "pg_is_other_temp_schema", "pg_relation_is_publishable", "pg_is_wal_replay_paused",
    "row_security_active", "pg_relation_is_updatable",
)  # fmt: skip
_NO_TEXT = (
    "pg_get_expr", "pg_get_constraintdef", "pg_get_indexdef", "pg_get_viewdef", "pg_get_triggerdef", "pg_get_ruledef",
    "pg_get_partkeydef", "pg_get_functiondef", "pg_get_function_arguments", "pg_get_function_result",
    "pg_get_function_identity_arguments", "pg_get_serial_sequence", "pg_get_statisticsobjdef_columns",
    "shobj_description", "pg_tablespace_location", "inet_server_addr", "inet_client_addr", "inet_server_port",
    "inet_client_port", "pg_get_partition_constraintdef", "pg_describe_object", "pg_postmaster_start_time",
    "pg_conf_load_time", "pg_get_function_sqlbody", "pg_listening_channels", "pg_get_statisticsobjdef",
    "pg_last_xact_replay_timestamp", "pg_last_wal_receive_lsn", "getdatabaseencoding",
)  # fmt: skip
_ZERO = (
    "pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_indexes_size", "pg_database_size",
    "pg_tablespace_size", "pg_my_temp_schema", "pg_backend_pid", "txid_current", "pg_stat_get_numscans",
    "pg_stat_get_live_tuples", "pg_advisory_lock", "pg_advisory_unlock", "pg_relation_filenode", "age", "mxid_age",
    "pg_advisory_unlock_all", "pg_sequence_last_value",
)  # fmt: skip

_PRIVILEGES = (
    "has_table_privilege", "has_schema_privilege", "has_database_privilege", "has_column_privilege",
    "has_any_column_privilege", "has_function_privilege", "has_sequence_privilege", "has_tablespace_privilege",
    "has_type_privilege", "pg_has_role",
)  # fmt: skip
"""Functions whose last argument names a privilege: to read is one that everybody has, to change is not."""

KEYWORDS = "pg_get_keywords"
_KEYWORDS = (
    "analyse analyze array asc asymmetric both collate concurrently current_catalog current_role current_schema "
    "deferrable desc do freeze ilike initially isnull lateral leading limit localtime localtimestamp notnull offset "
    "only placing returning similar symmetric tablesample trailing variadic verbose window"
)
"""Words that are PostgreSQL's own."""

_MOST_ARGUMENTS = 4

VIEWS = (
    "qg_class AS SELECT oid AS qg_class_oid, relname AS qg_class_name, relnamespace <> 13000 AS qg_class_visible "
    "FROM cat.pg_class",
    "qg_schema AS SELECT oid AS qg_schema_oid, nspname AS qg_schema_name FROM cat.pg_namespace",
    "qg_note AS SELECT objoid AS qg_note_oid, objsubid AS qg_note_place, description AS qg_note_text "
    "FROM cat.pg_description",
)
"""What functions read. Names in a macro's body come before those of its arguments, so these are nobody else's."""

_OWN = {
    "pg_table_is_visible(o)": "(SELECT qg_class_visible FROM cat.qg_class WHERE qg_class_oid = o)",
    "pg_get_userbyid(o)": "(SELECT rolname FROM cat.pg_roles LIMIT 1)",
    "format_type(o, m)": "(SELECT qg_type_written FROM cat.qg_type WHERE qg_type_oid = o)",
    "regtype_text(o)": "(SELECT qg_type_written FROM cat.qg_type WHERE qg_type_oid = o)",
    "regclass_text(o)": "(SELECT qg_class_name FROM cat.qg_class WHERE qg_class_oid = o)",
    "regnamespace_text(o)": "(SELECT qg_schema_name FROM cat.qg_schema WHERE qg_schema_oid = o)",
    "to_regclass(t)": (
        "(SELECT qg_class_oid FROM cat.qg_class "
        "WHERE qg_class_name = regexp_extract(replace(t, '\"', ''), '[^.]*$') LIMIT 1)"
    ),
    "to_regtype(t)": (
        "(SELECT qg_type_oid FROM cat.qg_type "
        "WHERE qg_type_name = regexp_extract(t, '[^.]*$') OR qg_type_written = t LIMIT 1)"
    ),
    "to_regnamespace(t)": "(SELECT qg_schema_oid FROM cat.qg_schema WHERE qg_schema_name = t)",
    "col_description(o, n)": "(SELECT qg_note_text FROM cat.qg_note WHERE qg_note_oid = o AND qg_note_place = n)",
    "current_schemas(b)": "CASE WHEN b THEN ['pg_catalog', 'public'] ELSE ['public'] END",
    "quote_ident(t)": "CASE WHEN regexp_full_match(t, '[a-z_][a-z0-9_$]*') THEN t ELSE concat('\"', t, '\"') END",
    "quote_literal(t)": "concat('''', replace(t, '''', ''''''), '''')",
    "pg_encoding_to_char(e)": "'UTF8'",
    "pg_char_to_encoding(e)": "6",
    "pg_size_pretty(n)": "'0 bytes'",
    "array_to_string(a, s)": "array_to_string(a, s)",
    "unnest(a)": "unnest(a)",
    "generate_subscripts(a, d)": "unnest(range(1, len(a) + 1))",
    "_pg_expandarray(a)": "{'x': 0, 'n': 0}",
    "pg_encoding_max_length(e)": "4",
    "pg_column_is_updatable(o, n, b)": "false",
    "btrim(t)": "trim(t)",
    "array_upper(a, d)": "len(a)",
    "array_lower(a, d)": "1",
    "array_ndims(a)": "1",
    "aclexplode(a)": "{'grantor': 0, 'grantee': 0, 'privilege_type': '', 'is_grantable': false}",
    "_pg_char_max_length(t, m)": "NULL::INTEGER",
    "_pg_numeric_precision(t, m)": "NULL::INTEGER",
    "_pg_numeric_scale(t, m)": "NULL::INTEGER",
    "_pg_datetime_precision(t, m)": "NULL::INTEGER",
    "_pg_truetypid(a, t)": "NULL::UINTEGER",
    "_pg_truetypmod(a, t)": "NULL::INTEGER",
    "obj_description(o)": "(SELECT qg_note_text FROM cat.qg_note WHERE qg_note_oid = o AND qg_note_place = 0)",
}
_OBJ_DESCRIPTION_OF = ", (o, c) AS (SELECT qg_note_text FROM cat.qg_note WHERE qg_note_oid = o AND qg_note_place = 0)"


_READING = "regexp_matches(lower(p), 'select|usage|connect|member|execute')"
_PRIVILEGE_FORMS = ", ".join(f"({before}p) AS {_READING}" for before in ("a, ", "a, b, ", "a, b, c, "))

_BOUNDED = (  # the value is written once, or statements would double with each level
    f"CREATE MACRO {BOUNDED} (x) AS list_transform([x], "
    f"lambda v: CASE WHEN strlen(v::VARCHAR) > {LONGEST_VALUE} THEN error('long') ELSE v END)[1]"
)


def _any_arguments(name: str, value: str) -> str:
    """A macro that gives the same whatever it is called with."""
    forms = ["".join(f"a{i}, " for i in range(count)).rstrip(", ") for count in range(_MOST_ARGUMENTS + 1)]
    return f"CREATE MACRO qg_{name} " + ", ".join(f"({form}) AS {value}" for form in forms)


def macros() -> list[str]:
    """The statements that make all of them."""
    constant = [(_TRUE, "true"), (_FALSE, "false"), (_NO_TEXT, "NULL::VARCHAR"), (_ZERO, "0::BIGINT")]
    words = f"unnest(string_split('{_KEYWORDS}', ' ')) AS word, 'R' AS catcode, 'reserved' AS catdesc"
    made = [f"CREATE VIEW cat.{view}" for view in VIEWS] + [_BOUNDED]
    made += [f"CREATE MACRO qg_{KEYWORDS}() AS TABLE SELECT {words}"]
    made += [f"CREATE MACRO qg_{name} {_PRIVILEGE_FORMS}" for name in _PRIVILEGES]
    made += [_any_arguments(name, value) for names, value in constant for name in names]
    for head, value in _OWN.items():
        name, _, arguments = head.partition("(")
        more = _OBJ_DESCRIPTION_OF if name == "obj_description" else ""
        made.append(f"CREATE MACRO qg_{name} ({arguments} AS {value}{more}")
    return made


FUNCTIONS = frozenset(
    {KEYWORDS, *_PRIVILEGES, *_TRUE, *_FALSE, *_NO_TEXT, *_ZERO, *(head.partition("(")[0] for head in _OWN)}
)
