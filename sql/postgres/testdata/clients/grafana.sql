SELECT 1;
SELECT version();
SELECT current_setting('server_version_num')::int/100 as version;
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb';
SELECT
    CASE WHEN
          quote_ident(table_schema) IN (
          SELECT
            CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM
            generate_series(
              array_lower(string_to_array(current_setting('search_path'),','),1),
              array_upper(string_to_array(current_setting('search_path'),','),1)
            ) as i,
            string_to_array(current_setting('search_path'),',') s
          )
      THEN quote_ident(table_name)
      ELSE quote_ident(table_schema) || '.' || quote_ident(table_name)
    END AS "table"
    FROM information_schema.tables
    WHERE quote_ident(table_schema) NOT IN ('information_schema',
                             'pg_catalog',
                             '_timescaledb_cache')
    ORDER BY CASE WHEN
          quote_ident(table_schema) IN (
          SELECT
            CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM
            generate_series(
              array_lower(string_to_array(current_setting('search_path'),','),1),
              array_upper(string_to_array(current_setting('search_path'),','),1)
            ) as i,
            string_to_array(current_setting('search_path'),',') s
          )
      THEN 0 ELSE 1 END, 1;
SELECT quote_ident(column_name) AS "column", data_type AS "type"
    FROM information_schema.columns
    WHERE
          quote_ident(table_schema) IN (
          SELECT
            CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM
            generate_series(
              array_lower(string_to_array(current_setting('search_path'),','),1),
              array_upper(string_to_array(current_setting('search_path'),','),1)
            ) as i,
            string_to_array(current_setting('search_path'),',') s
          )
      AND quote_ident(table_name) = 'position';
SELECT udt_name FROM information_schema.columns WHERE
quote_ident(table_schema) IN (
          SELECT
            CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM
            generate_series(
              array_lower(string_to_array(current_setting('search_path'),','),1),
              array_upper(string_to_array(current_setting('search_path'),','),1)
            ) as i,
            string_to_array(current_setting('search_path'),',') s
          ) AND table_name = 'position' AND column_name = 'x';
SELECT quote_ident(column_name) FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'name'
    AND data_type IN ('text','character','character varying') ORDER BY column_name;
SELECT DISTINCT name FROM name WHERE name IS NOT NULL ORDER BY 1;
SELECT "entity" AS "time", x FROM public.position WHERE entity >= 1 AND entity <= 3 ORDER BY 1;
SELECT schema_name AS "name" FROM information_schema.schemata
  WHERE schema_name NOT IN ('information_schema', 'pg_catalog', 'pg_toast') ORDER BY schema_name;
SELECT schema_name FROM information_schema.schemata
  WHERE schema_name NOT LIKE 'pg_%' AND schema_name != 'information_schema' ORDER BY schema_name;
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables
  WHERE quote_ident(table_schema) = 'public' ORDER BY 1;
SELECT table_name FROM information_schema.tables
  WHERE table_schema = 'public' AND table_type IN ('BASE TABLE', 'VIEW') ORDER BY table_name;
SELECT column_name, data_type, udt_name, numeric_precision, numeric_scale FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name = 'kind' ORDER BY ordinal_position;
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE
  CASE WHEN array_length(parse_ident('public.position'),1) = 2
    THEN quote_ident(table_schema) = (parse_ident('public.position'))[1]
      AND quote_ident(table_name) = (parse_ident('public.position'))[2]
    ELSE quote_ident(table_name) = 'public.position' AND quote_ident(table_schema) IN (SELECT trim(s[i]) FROM
      generate_series(1, array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
      string_to_array(current_setting('search_path'),',') s)
  END;
SELECT 'x' AS col_name, "x"::text AS val FROM (SELECT DISTINCT "x" FROM "public"."position" WHERE "x" IS NOT NULL
  ORDER BY "x" LIMIT 2) sub_0 UNION ALL SELECT 'entity' AS col_name, "entity"::text AS val FROM (SELECT DISTINCT
  "entity" FROM "public"."position" WHERE "entity" IS NOT NULL ORDER BY "entity" LIMIT 2) sub_1;
SELECT born AS "time", id FROM kind WHERE born BETWEEN '2026-01-01T00:00:00Z' AND '2026-01-03T00:00:00.5Z';
SELECT extract(epoch from born) as "time", id FROM kind;
SELECT floor(extract(epoch from born)/60)*60 AS "time", count(*) AS value FROM kind
  WHERE born BETWEEN '2026-01-01T00:00:00Z' AND '2026-01-03T00:00:00Z' GROUP BY 1 ORDER BY 1;
SELECT floor((entity)/300)*300 AS "time", avg(x) AS value FROM position WHERE entity >= 1 AND entity <= 1000
  GROUP BY 1 ORDER BY 1;
SELECT born AS time, label AS metric FROM kind WHERE born >= '2026-01-01T00:00:00Z' AND now() > '2020' LIMIT 50;
SELECT AVG(x) AS "avg", name FROM named WHERE (x > 1 AND y != 3) GROUP BY name ORDER BY name DESC LIMIT 50;
