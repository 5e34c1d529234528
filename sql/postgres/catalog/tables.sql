-- The tables of PostgreSQL 15's catalog. Types: BOOLEAN, OID, INT2, INT4, INT8, REAL; TEXT for all others.

CREATE TABLE pg_aggregate(aggfnoid OID NOT NULL DEFAULT 0, aggkind TEXT NOT NULL DEFAULT '',
    aggnumdirectargs INT2 NOT NULL DEFAULT 0, aggtransfn OID NOT NULL DEFAULT 0, aggfinalfn OID
    NOT NULL DEFAULT 0, aggcombinefn OID NOT NULL DEFAULT 0, aggserialfn OID NOT NULL DEFAULT 0,
    aggdeserialfn OID NOT NULL DEFAULT 0, aggmtransfn OID NOT NULL DEFAULT 0, aggminvtransfn OID
    NOT NULL DEFAULT 0, aggmfinalfn OID NOT NULL DEFAULT 0, aggfinalextra BOOLEAN NOT NULL DEFAULT
    0, aggmfinalextra BOOLEAN NOT NULL DEFAULT 0, aggfinalmodify TEXT NOT NULL DEFAULT '',
    aggmfinalmodify TEXT NOT NULL DEFAULT '', aggsortop OID NOT NULL DEFAULT 0, aggtranstype OID
    NOT NULL DEFAULT 0, aggtransspace INT4 NOT NULL DEFAULT 0, aggmtranstype OID NOT NULL DEFAULT
    0, aggmtransspace INT4 NOT NULL DEFAULT 0, agginitval TEXT, aggminitval TEXT);
CREATE TABLE pg_am(oid OID NOT NULL DEFAULT 0, amname TEXT NOT NULL DEFAULT '', amhandler OID
    NOT NULL DEFAULT 0, amtype TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_amop(oid OID NOT NULL DEFAULT 0, amopfamily OID NOT NULL DEFAULT 0,
    amoplefttype OID NOT NULL DEFAULT 0, amoprighttype OID NOT NULL DEFAULT 0, amopstrategy INT2
    NOT NULL DEFAULT 0, amoppurpose TEXT NOT NULL DEFAULT '', amopopr OID NOT NULL DEFAULT 0,
    amopmethod OID NOT NULL DEFAULT 0, amopsortfamily OID NOT NULL DEFAULT 0);
CREATE TABLE pg_amproc(oid OID NOT NULL DEFAULT 0, amprocfamily OID NOT NULL DEFAULT 0,
    amproclefttype OID NOT NULL DEFAULT 0, amprocrighttype OID NOT NULL DEFAULT 0, amprocnum INT2
    NOT NULL DEFAULT 0, amproc OID NOT NULL DEFAULT 0);
CREATE TABLE pg_attrdef(oid OID NOT NULL DEFAULT 0, adrelid OID NOT NULL DEFAULT 0, adnum
    INT2 NOT NULL DEFAULT 0, adbin TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_attribute(attrelid OID NOT NULL DEFAULT 0, attname TEXT NOT NULL DEFAULT '',
    atttypid OID NOT NULL DEFAULT 0, attstattarget INT4 NOT NULL DEFAULT 0, attlen INT2 NOT NULL
    DEFAULT 0, attnum INT2 NOT NULL DEFAULT 0, attndims INT4 NOT NULL DEFAULT 0, attcacheoff INT4
    NOT NULL DEFAULT 0, atttypmod INT4 NOT NULL DEFAULT 0, attbyval BOOLEAN NOT NULL DEFAULT 0,
    attalign TEXT NOT NULL DEFAULT '', attstorage TEXT NOT NULL DEFAULT '', attcompression TEXT
    NOT NULL DEFAULT '', attnotnull BOOLEAN NOT NULL DEFAULT 0, atthasdef BOOLEAN NOT NULL DEFAULT
    0, atthasmissing BOOLEAN NOT NULL DEFAULT 0, attidentity TEXT NOT NULL DEFAULT '',
    attgenerated TEXT NOT NULL DEFAULT '', attisdropped BOOLEAN NOT NULL DEFAULT 0, attislocal
    BOOLEAN NOT NULL DEFAULT 0, attinhcount INT4 NOT NULL DEFAULT 0, attcollation OID NOT NULL
    DEFAULT 0, attacl TEXT, attoptions TEXT, attfdwoptions TEXT, attmissingval TEXT);
CREATE TABLE pg_auth_members(roleid OID NOT NULL DEFAULT 0, member OID NOT NULL DEFAULT 0,
    grantor OID NOT NULL DEFAULT 0, admin_option BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE pg_authid(oid OID NOT NULL DEFAULT 0, rolname TEXT NOT NULL DEFAULT '', rolsuper
    BOOLEAN NOT NULL DEFAULT 0, rolinherit BOOLEAN NOT NULL DEFAULT 0, rolcreaterole BOOLEAN NOT
    NULL DEFAULT 0, rolcreatedb BOOLEAN NOT NULL DEFAULT 0, rolcanlogin BOOLEAN NOT NULL DEFAULT 0,
    rolreplication BOOLEAN NOT NULL DEFAULT 0, rolbypassrls BOOLEAN NOT NULL DEFAULT 0,
    rolconnlimit INT4 NOT NULL DEFAULT 0, rolpassword TEXT, rolvaliduntil TEXT);
CREATE TABLE pg_available_extensions(name TEXT, default_version TEXT, installed_version TEXT,
    comment TEXT);
CREATE TABLE pg_cast(oid OID NOT NULL DEFAULT 0, castsource OID NOT NULL DEFAULT 0,
    casttarget OID NOT NULL DEFAULT 0, castfunc OID NOT NULL DEFAULT 0, castcontext TEXT NOT NULL
    DEFAULT '', castmethod TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_class(oid OID NOT NULL DEFAULT 0, relname TEXT NOT NULL DEFAULT '',
    relnamespace OID NOT NULL DEFAULT 0, reltype OID NOT NULL DEFAULT 0, reloftype OID NOT NULL
    DEFAULT 0, relowner OID NOT NULL DEFAULT 0, relam OID NOT NULL DEFAULT 0, relfilenode OID NOT
    NULL DEFAULT 0, reltablespace OID NOT NULL DEFAULT 0, relpages INT4 NOT NULL DEFAULT 0,
    reltuples REAL NOT NULL DEFAULT 0, relallvisible INT4 NOT NULL DEFAULT 0, reltoastrelid OID
    NOT NULL DEFAULT 0, relhasindex BOOLEAN NOT NULL DEFAULT 0, relisshared BOOLEAN NOT NULL
    DEFAULT 0, relpersistence TEXT NOT NULL DEFAULT '', relkind TEXT NOT NULL DEFAULT '',
    relnatts INT2 NOT NULL DEFAULT 0, relchecks INT2 NOT NULL DEFAULT 0, relhasrules BOOLEAN NOT
    NULL DEFAULT 0, relhastriggers BOOLEAN NOT NULL DEFAULT 0, relhassubclass BOOLEAN NOT NULL
    DEFAULT 0, relrowsecurity BOOLEAN NOT NULL DEFAULT 0, relforcerowsecurity BOOLEAN NOT NULL
    DEFAULT 0, relispopulated BOOLEAN NOT NULL DEFAULT 0, relreplident TEXT NOT NULL DEFAULT '',
    relispartition BOOLEAN NOT NULL DEFAULT 0, relrewrite OID NOT NULL DEFAULT 0, relfrozenxid
    OID NOT NULL DEFAULT 0, relminmxid OID NOT NULL DEFAULT 0, relacl TEXT, reloptions TEXT,
    relpartbound TEXT);
CREATE TABLE pg_collation(oid OID NOT NULL DEFAULT 0, collname TEXT NOT NULL DEFAULT '',
    collnamespace OID NOT NULL DEFAULT 0, collowner OID NOT NULL DEFAULT 0, collprovider TEXT NOT
    NULL DEFAULT '', collisdeterministic BOOLEAN NOT NULL DEFAULT 0, collencoding INT4 NOT NULL
    DEFAULT 0, collcollate TEXT, collctype TEXT, colliculocale TEXT, collversion TEXT);
CREATE TABLE pg_constraint(oid OID NOT NULL DEFAULT 0, conname TEXT NOT NULL DEFAULT '',
    connamespace OID NOT NULL DEFAULT 0, contype TEXT NOT NULL DEFAULT '', condeferrable BOOLEAN
    NOT NULL DEFAULT 0, condeferred BOOLEAN NOT NULL DEFAULT 0, convalidated BOOLEAN NOT NULL
    DEFAULT 0, conrelid OID NOT NULL DEFAULT 0, contypid OID NOT NULL DEFAULT 0, conindid OID NOT
    NULL DEFAULT 0, conparentid OID NOT NULL DEFAULT 0, confrelid OID NOT NULL DEFAULT 0,
    confupdtype TEXT NOT NULL DEFAULT '', confdeltype TEXT NOT NULL DEFAULT '', confmatchtype
    TEXT NOT NULL DEFAULT '', conislocal BOOLEAN NOT NULL DEFAULT 0, coninhcount INT4 NOT NULL
    DEFAULT 0, connoinherit BOOLEAN NOT NULL DEFAULT 0, conkey TEXT, confkey TEXT, conpfeqop
    TEXT, conppeqop TEXT, conffeqop TEXT, confdelsetcols TEXT, conexclop TEXT, conbin TEXT);
CREATE TABLE pg_conversion(oid OID NOT NULL DEFAULT 0, conname TEXT NOT NULL DEFAULT '',
    connamespace OID NOT NULL DEFAULT 0, conowner OID NOT NULL DEFAULT 0, conforencoding INT4 NOT
    NULL DEFAULT 0, contoencoding INT4 NOT NULL DEFAULT 0, conproc OID NOT NULL DEFAULT 0,
    condefault BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE pg_cursors(name TEXT, statement TEXT, is_holdable BOOLEAN, is_binary BOOLEAN,
    is_scrollable BOOLEAN, creation_time TEXT);
CREATE TABLE pg_database(oid OID NOT NULL DEFAULT 0, datname TEXT NOT NULL DEFAULT '', datdba
    OID NOT NULL DEFAULT 0, encoding INT4 NOT NULL DEFAULT 0, datlocprovider TEXT NOT NULL DEFAULT
    '', datistemplate BOOLEAN NOT NULL DEFAULT 0, datallowconn BOOLEAN NOT NULL DEFAULT 0,
    datconnlimit INT4 NOT NULL DEFAULT 0, datfrozenxid OID NOT NULL DEFAULT 0, datminmxid OID NOT
    NULL DEFAULT 0, dattablespace OID NOT NULL DEFAULT 0, datcollate TEXT NOT NULL DEFAULT '',
    datctype TEXT NOT NULL DEFAULT '', daticulocale TEXT, datcollversion TEXT, datacl TEXT);
CREATE TABLE pg_db_role_setting(setdatabase OID NOT NULL DEFAULT 0, setrole OID NOT NULL
    DEFAULT 0, setconfig TEXT);
CREATE TABLE pg_default_acl(oid OID NOT NULL DEFAULT 0, defaclrole OID NOT NULL DEFAULT 0,
    defaclnamespace OID NOT NULL DEFAULT 0, defaclobjtype TEXT NOT NULL DEFAULT '', defaclacl
    TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_depend(classid OID NOT NULL DEFAULT 0, objid OID NOT NULL DEFAULT 0, objsubid
    INT4 NOT NULL DEFAULT 0, refclassid OID NOT NULL DEFAULT 0, refobjid OID NOT NULL DEFAULT 0,
    refobjsubid INT4 NOT NULL DEFAULT 0, deptype TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_description(objoid OID NOT NULL DEFAULT 0, classoid OID NOT NULL DEFAULT 0,
    objsubid INT4 NOT NULL DEFAULT 0, description TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_enum(oid OID NOT NULL DEFAULT 0, enumtypid OID NOT NULL DEFAULT 0,
    enumsortorder REAL NOT NULL DEFAULT 0, enumlabel TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_event_trigger(oid OID NOT NULL DEFAULT 0, evtname TEXT NOT NULL DEFAULT '',
    evtevent TEXT NOT NULL DEFAULT '', evtowner OID NOT NULL DEFAULT 0, evtfoid OID NOT NULL
    DEFAULT 0, evtenabled TEXT NOT NULL DEFAULT '', evttags TEXT);
CREATE TABLE pg_extension(oid OID NOT NULL DEFAULT 0, extname TEXT NOT NULL DEFAULT '',
    extowner OID NOT NULL DEFAULT 0, extnamespace OID NOT NULL DEFAULT 0, extrelocatable BOOLEAN
    NOT NULL DEFAULT 0, extversion TEXT NOT NULL DEFAULT '', extconfig TEXT, extcondition TEXT);
CREATE TABLE pg_file_settings(sourcefile TEXT, sourceline INT4, seqno INT4, name TEXT,
    setting TEXT, applied BOOLEAN, error TEXT);
CREATE TABLE pg_foreign_data_wrapper(oid OID NOT NULL DEFAULT 0, fdwname TEXT NOT NULL DEFAULT
    '', fdwowner OID NOT NULL DEFAULT 0, fdwhandler OID NOT NULL DEFAULT 0, fdwvalidator OID NOT
    NULL DEFAULT 0, fdwacl TEXT, fdwoptions TEXT);
CREATE TABLE pg_foreign_server(oid OID NOT NULL DEFAULT 0, srvname TEXT NOT NULL DEFAULT '',
    srvowner OID NOT NULL DEFAULT 0, srvfdw OID NOT NULL DEFAULT 0, srvtype TEXT, srvversion
    TEXT, srvacl TEXT, srvoptions TEXT);
CREATE TABLE pg_foreign_table(ftrelid OID NOT NULL DEFAULT 0, ftserver OID NOT NULL DEFAULT 0,
    ftoptions TEXT);
CREATE TABLE pg_group(groname TEXT, grosysid OID, grolist TEXT);
CREATE TABLE pg_index(indexrelid OID NOT NULL DEFAULT 0, indrelid OID NOT NULL DEFAULT 0,
    indnatts INT2 NOT NULL DEFAULT 0, indnkeyatts INT2 NOT NULL DEFAULT 0, indisunique BOOLEAN
    NOT NULL DEFAULT 0, indnullsnotdistinct BOOLEAN NOT NULL DEFAULT 0, indisprimary BOOLEAN NOT
    NULL DEFAULT 0, indisexclusion BOOLEAN NOT NULL DEFAULT 0, indimmediate BOOLEAN NOT NULL
    DEFAULT 0, indisclustered BOOLEAN NOT NULL DEFAULT 0, indisvalid BOOLEAN NOT NULL DEFAULT 0,
    indcheckxmin BOOLEAN NOT NULL DEFAULT 0, indisready BOOLEAN NOT NULL DEFAULT 0, indislive
    BOOLEAN NOT NULL DEFAULT 0, indisreplident BOOLEAN NOT NULL DEFAULT 0, indkey TEXT NOT NULL
    DEFAULT '', indcollation TEXT NOT NULL DEFAULT '', indclass TEXT NOT NULL DEFAULT '',
    indoption TEXT NOT NULL DEFAULT '', indexprs TEXT, indpred TEXT);
CREATE TABLE pg_indexes(schemaname TEXT, tablename TEXT, indexname TEXT, tablespace TEXT,
    indexdef TEXT);
CREATE TABLE pg_inherits(inhrelid OID NOT NULL DEFAULT 0, inhparent OID NOT NULL DEFAULT 0,
    inhseqno INT4 NOT NULL DEFAULT 0, inhdetachpending BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE pg_language(oid OID NOT NULL DEFAULT 0, lanname TEXT NOT NULL DEFAULT '',
    lanowner OID NOT NULL DEFAULT 0, lanispl BOOLEAN NOT NULL DEFAULT 0, lanpltrusted BOOLEAN NOT
    NULL DEFAULT 0, lanplcallfoid OID NOT NULL DEFAULT 0, laninline OID NOT NULL DEFAULT 0,
    lanvalidator OID NOT NULL DEFAULT 0, lanacl TEXT);
CREATE TABLE pg_largeobject_metadata(oid OID NOT NULL DEFAULT 0, lomowner OID NOT NULL DEFAULT
    0, lomacl TEXT);
CREATE TABLE pg_locks(locktype TEXT, database OID, relation OID, page INT4, tuple INT2,
    virtualxid TEXT, transactionid OID, classid OID, objid OID, objsubid INT2,
    virtualtransaction TEXT, pid INT4, mode TEXT, granted BOOLEAN, fastpath BOOLEAN,
    waitstart TEXT);
CREATE TABLE pg_matviews(schemaname TEXT, matviewname TEXT, matviewowner TEXT, tablespace
    TEXT, hasindexes BOOLEAN, ispopulated BOOLEAN, definition TEXT);
CREATE TABLE pg_namespace(oid OID NOT NULL DEFAULT 0, nspname TEXT NOT NULL DEFAULT '',
    nspowner OID NOT NULL DEFAULT 0, nspacl TEXT);
CREATE TABLE pg_opclass(oid OID NOT NULL DEFAULT 0, opcmethod OID NOT NULL DEFAULT 0, opcname
    TEXT NOT NULL DEFAULT '', opcnamespace OID NOT NULL DEFAULT 0, opcowner OID NOT NULL DEFAULT 0,
    opcfamily OID NOT NULL DEFAULT 0, opcintype OID NOT NULL DEFAULT 0, opcdefault BOOLEAN NOT
    NULL DEFAULT 0, opckeytype OID NOT NULL DEFAULT 0);
CREATE TABLE pg_operator(oid OID NOT NULL DEFAULT 0, oprname TEXT NOT NULL DEFAULT '',
    oprnamespace OID NOT NULL DEFAULT 0, oprowner OID NOT NULL DEFAULT 0, oprkind TEXT NOT NULL
    DEFAULT '', oprcanmerge BOOLEAN NOT NULL DEFAULT 0, oprcanhash BOOLEAN NOT NULL DEFAULT 0,
    oprleft OID NOT NULL DEFAULT 0, oprright OID NOT NULL DEFAULT 0, oprresult OID NOT NULL
    DEFAULT 0, oprcom OID NOT NULL DEFAULT 0, oprnegate OID NOT NULL DEFAULT 0, oprcode OID NOT
    NULL DEFAULT 0, oprrest OID NOT NULL DEFAULT 0, oprjoin OID NOT NULL DEFAULT 0);
CREATE TABLE pg_opfamily(oid OID NOT NULL DEFAULT 0, opfmethod OID NOT NULL DEFAULT 0,
    opfname TEXT NOT NULL DEFAULT '', opfnamespace OID NOT NULL DEFAULT 0, opfowner OID NOT NULL
    DEFAULT 0);
CREATE TABLE pg_partitioned_table(partrelid OID NOT NULL DEFAULT 0, partstrat TEXT NOT NULL
    DEFAULT '', partnatts INT2 NOT NULL DEFAULT 0, partdefid OID NOT NULL DEFAULT 0, partattrs
    TEXT NOT NULL DEFAULT '', partclass TEXT NOT NULL DEFAULT '', partcollation TEXT NOT NULL
    DEFAULT '', partexprs TEXT);
CREATE TABLE pg_policy(oid OID NOT NULL DEFAULT 0, polname TEXT NOT NULL DEFAULT '', polrelid
    OID NOT NULL DEFAULT 0, polcmd TEXT NOT NULL DEFAULT '', polpermissive BOOLEAN NOT NULL DEFAULT
    0, polroles TEXT NOT NULL DEFAULT '', polqual TEXT, polwithcheck TEXT);
CREATE TABLE pg_prepared_statements(name TEXT, statement TEXT, prepare_time TEXT,
    parameter_types TEXT, from_sql BOOLEAN, generic_plans INT8, custom_plans INT8);
CREATE TABLE pg_proc(oid OID NOT NULL DEFAULT 0, proname TEXT NOT NULL DEFAULT '',
    pronamespace OID NOT NULL DEFAULT 0, proowner OID NOT NULL DEFAULT 0, prolang OID NOT NULL
    DEFAULT 0, procost REAL NOT NULL DEFAULT 0, prorows REAL NOT NULL DEFAULT 0, provariadic OID
    NOT NULL DEFAULT 0, prosupport OID NOT NULL DEFAULT 0, prokind TEXT NOT NULL DEFAULT '',
    prosecdef BOOLEAN NOT NULL DEFAULT 0, proleakproof BOOLEAN NOT NULL DEFAULT 0, proisstrict
    BOOLEAN NOT NULL DEFAULT 0, proretset BOOLEAN NOT NULL DEFAULT 0, provolatile TEXT NOT NULL
    DEFAULT '', proparallel TEXT NOT NULL DEFAULT '', pronargs INT2 NOT NULL DEFAULT 0,
    pronargdefaults INT2 NOT NULL DEFAULT 0, prorettype OID NOT NULL DEFAULT 0, proargtypes TEXT
    NOT NULL DEFAULT '', proallargtypes TEXT, proargmodes TEXT, proargnames TEXT,
    proargdefaults TEXT, protrftypes TEXT, prosrc TEXT NOT NULL DEFAULT '', probin TEXT,
    prosqlbody TEXT, proconfig TEXT, proacl TEXT);
CREATE TABLE pg_publication(oid OID NOT NULL DEFAULT 0, pubname TEXT NOT NULL DEFAULT '',
    pubowner OID NOT NULL DEFAULT 0, puballtables BOOLEAN NOT NULL DEFAULT 0, pubinsert BOOLEAN
    NOT NULL DEFAULT 0, pubupdate BOOLEAN NOT NULL DEFAULT 0, pubdelete BOOLEAN NOT NULL DEFAULT 0,
    pubtruncate BOOLEAN NOT NULL DEFAULT 0, pubviaroot BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE pg_publication_namespace(oid OID NOT NULL DEFAULT 0, pnpubid OID NOT NULL DEFAULT
    0, pnnspid OID NOT NULL DEFAULT 0);
CREATE TABLE pg_publication_rel(oid OID NOT NULL DEFAULT 0, prpubid OID NOT NULL DEFAULT 0,
    prrelid OID NOT NULL DEFAULT 0, prqual TEXT, prattrs TEXT);
CREATE TABLE pg_range(rngtypid OID NOT NULL DEFAULT 0, rngsubtype OID NOT NULL DEFAULT 0,
    rngmultitypid OID NOT NULL DEFAULT 0, rngcollation OID NOT NULL DEFAULT 0, rngsubopc OID NOT
    NULL DEFAULT 0, rngcanonical OID NOT NULL DEFAULT 0, rngsubdiff OID NOT NULL DEFAULT 0);
CREATE TABLE pg_rewrite(oid OID NOT NULL DEFAULT 0, rulename TEXT NOT NULL DEFAULT '',
    ev_class OID NOT NULL DEFAULT 0, ev_type TEXT NOT NULL DEFAULT '', ev_enabled TEXT NOT NULL
    DEFAULT '', is_instead BOOLEAN NOT NULL DEFAULT 0, ev_qual TEXT NOT NULL DEFAULT '',
    ev_action TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_roles(rolname TEXT, rolsuper BOOLEAN, rolinherit BOOLEAN, rolcreaterole
    BOOLEAN, rolcreatedb BOOLEAN, rolcanlogin BOOLEAN, rolreplication BOOLEAN, rolconnlimit
    INT4, rolpassword TEXT, rolvaliduntil TEXT, rolbypassrls BOOLEAN, rolconfig TEXT, oid
    OID);
CREATE TABLE pg_rules(schemaname TEXT, tablename TEXT, rulename TEXT, definition TEXT);
CREATE TABLE pg_seclabels(objoid OID, classoid OID, objsubid INT4, objtype TEXT,
    objnamespace OID, objname TEXT, provider TEXT, label TEXT);
CREATE TABLE pg_sequence(seqrelid OID NOT NULL DEFAULT 0, seqtypid OID NOT NULL DEFAULT 0,
    seqstart INT8 NOT NULL DEFAULT 0, seqincrement INT8 NOT NULL DEFAULT 0, seqmax INT8 NOT NULL
    DEFAULT 0, seqmin INT8 NOT NULL DEFAULT 0, seqcache INT8 NOT NULL DEFAULT 0, seqcycle BOOLEAN
    NOT NULL DEFAULT 0);
CREATE TABLE pg_sequences(schemaname TEXT, sequencename TEXT, sequenceowner TEXT, data_type
    TEXT, start_value INT8, min_value INT8, max_value INT8, increment_by INT8, cycle BOOLEAN,
    cache_size INT8, last_value INT8);
CREATE TABLE pg_settings(name TEXT, setting TEXT, unit TEXT, category TEXT, short_desc
    TEXT, extra_desc TEXT, context TEXT, vartype TEXT, source TEXT, min_val TEXT, max_val
    TEXT, enumvals TEXT, boot_val TEXT, reset_val TEXT, sourcefile TEXT, sourceline INT4,
    pending_restart BOOLEAN);
CREATE TABLE pg_shadow(usename TEXT, usesysid OID, usecreatedb BOOLEAN, usesuper BOOLEAN,
    userepl BOOLEAN, usebypassrls BOOLEAN, passwd TEXT, valuntil TEXT, useconfig TEXT);
CREATE TABLE pg_shdescription(objoid OID NOT NULL DEFAULT 0, classoid OID NOT NULL DEFAULT 0,
    description TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_stat_activity(datid OID, datname TEXT, pid INT4, leader_pid INT4,
    usesysid OID, usename TEXT, application_name TEXT, client_addr TEXT, client_hostname
    TEXT, client_port INT4, backend_start TEXT, xact_start TEXT, query_start TEXT,
    state_change TEXT, wait_event_type TEXT, wait_event TEXT, state TEXT, backend_xid OID,
    backend_xmin OID, query_id INT8, query TEXT, backend_type TEXT);
CREATE TABLE pg_stat_user_indexes(relid OID, indexrelid OID, schemaname TEXT, relname TEXT,
    indexrelname TEXT, idx_scan INT8, idx_tup_read INT8, idx_tup_fetch INT8);
CREATE TABLE pg_stat_user_tables(relid OID, schemaname TEXT, relname TEXT, seq_scan INT8,
    seq_tup_read INT8, idx_scan INT8, idx_tup_fetch INT8, n_tup_ins INT8, n_tup_upd INT8,
    n_tup_del INT8, n_tup_hot_upd INT8, n_live_tup INT8, n_dead_tup INT8, n_mod_since_analyze
    INT8, n_ins_since_vacuum INT8, last_vacuum TEXT, last_autovacuum TEXT, last_analyze TEXT,
    last_autoanalyze TEXT, vacuum_count INT8, autovacuum_count INT8, analyze_count INT8,
    autoanalyze_count INT8);
CREATE TABLE pg_statio_user_tables(relid OID, schemaname TEXT, relname TEXT, heap_blks_read
    INT8, heap_blks_hit INT8, idx_blks_read INT8, idx_blks_hit INT8, toast_blks_read INT8,
    toast_blks_hit INT8, tidx_blks_read INT8, tidx_blks_hit INT8);
CREATE TABLE pg_statistic_ext(oid OID NOT NULL DEFAULT 0, stxrelid OID NOT NULL DEFAULT 0,
    stxname TEXT NOT NULL DEFAULT '', stxnamespace OID NOT NULL DEFAULT 0, stxowner OID NOT NULL
    DEFAULT 0, stxstattarget INT4 NOT NULL DEFAULT 0, stxkeys TEXT NOT NULL DEFAULT '', stxkind
    TEXT NOT NULL DEFAULT '', stxexprs TEXT);
CREATE TABLE pg_statistic_ext_data(stxoid OID NOT NULL DEFAULT 0, stxdinherit BOOLEAN NOT NULL
    DEFAULT 0, stxdndistinct TEXT, stxddependencies TEXT, stxdmcv TEXT, stxdexpr TEXT);
CREATE TABLE pg_stats(schemaname TEXT, tablename TEXT, attname TEXT, inherited BOOLEAN,
    null_frac REAL, avg_width INT4, n_distinct REAL, most_common_vals TEXT, most_common_freqs
    TEXT, histogram_bounds TEXT, correlation REAL, most_common_elems TEXT,
    most_common_elem_freqs TEXT, elem_count_histogram TEXT);
CREATE TABLE pg_subscription(oid OID NOT NULL DEFAULT 0, subdbid OID NOT NULL DEFAULT 0,
    subskiplsn TEXT NOT NULL DEFAULT '', subname TEXT NOT NULL DEFAULT '', subowner OID NOT NULL
    DEFAULT 0, subenabled BOOLEAN NOT NULL DEFAULT 0, subbinary BOOLEAN NOT NULL DEFAULT 0,
    substream BOOLEAN NOT NULL DEFAULT 0, subtwophasestate TEXT NOT NULL DEFAULT '',
    subdisableonerr BOOLEAN NOT NULL DEFAULT 0, subconninfo TEXT NOT NULL DEFAULT '', subslotname
    TEXT, subsynccommit TEXT NOT NULL DEFAULT '', subpublications TEXT NOT NULL DEFAULT '');
CREATE TABLE pg_tables(schemaname TEXT, tablename TEXT, tableowner TEXT, tablespace TEXT,
    hasindexes BOOLEAN, hasrules BOOLEAN, hastriggers BOOLEAN, rowsecurity BOOLEAN);
CREATE TABLE pg_tablespace(oid OID NOT NULL DEFAULT 0, spcname TEXT NOT NULL DEFAULT '',
    spcowner OID NOT NULL DEFAULT 0, spcacl TEXT, spcoptions TEXT);
CREATE TABLE pg_timezone_names(name TEXT, abbrev TEXT, utc_offset TEXT, is_dst BOOLEAN);
CREATE TABLE pg_trigger(oid OID NOT NULL DEFAULT 0, tgrelid OID NOT NULL DEFAULT 0,
    tgparentid OID NOT NULL DEFAULT 0, tgname TEXT NOT NULL DEFAULT '', tgfoid OID NOT NULL
    DEFAULT 0, tgtype INT2 NOT NULL DEFAULT 0, tgenabled TEXT NOT NULL DEFAULT '', tgisinternal
    BOOLEAN NOT NULL DEFAULT 0, tgconstrrelid OID NOT NULL DEFAULT 0, tgconstrindid OID NOT NULL
    DEFAULT 0, tgconstraint OID NOT NULL DEFAULT 0, tgdeferrable BOOLEAN NOT NULL DEFAULT 0,
    tginitdeferred BOOLEAN NOT NULL DEFAULT 0, tgnargs INT2 NOT NULL DEFAULT 0, tgattr TEXT NOT
    NULL DEFAULT '', tgargs TEXT NOT NULL DEFAULT '', tgqual TEXT, tgoldtable TEXT, tgnewtable
    TEXT);
CREATE TABLE pg_ts_config(oid OID NOT NULL DEFAULT 0, cfgname TEXT NOT NULL DEFAULT '',
    cfgnamespace OID NOT NULL DEFAULT 0, cfgowner OID NOT NULL DEFAULT 0, cfgparser OID NOT NULL
    DEFAULT 0);
CREATE TABLE pg_ts_dict(oid OID NOT NULL DEFAULT 0, dictname TEXT NOT NULL DEFAULT '',
    dictnamespace OID NOT NULL DEFAULT 0, dictowner OID NOT NULL DEFAULT 0, dicttemplate OID NOT
    NULL DEFAULT 0, dictinitoption TEXT);
CREATE TABLE pg_ts_parser(oid OID NOT NULL DEFAULT 0, prsname TEXT NOT NULL DEFAULT '',
    prsnamespace OID NOT NULL DEFAULT 0, prsstart OID NOT NULL DEFAULT 0, prstoken OID NOT NULL
    DEFAULT 0, prsend OID NOT NULL DEFAULT 0, prsheadline OID NOT NULL DEFAULT 0, prslextype OID
    NOT NULL DEFAULT 0);
CREATE TABLE pg_ts_template(oid OID NOT NULL DEFAULT 0, tmplname TEXT NOT NULL DEFAULT '',
    tmplnamespace OID NOT NULL DEFAULT 0, tmplinit OID NOT NULL DEFAULT 0, tmpllexize OID NOT
    NULL DEFAULT 0);
CREATE TABLE pg_type(oid OID NOT NULL DEFAULT 0, typname TEXT NOT NULL DEFAULT '',
    typnamespace OID NOT NULL DEFAULT 0, typowner OID NOT NULL DEFAULT 0, typlen INT2 NOT NULL
    DEFAULT 0, typbyval BOOLEAN NOT NULL DEFAULT 0, typtype TEXT NOT NULL DEFAULT '', typcategory
    TEXT NOT NULL DEFAULT '', typispreferred BOOLEAN NOT NULL DEFAULT 0, typisdefined BOOLEAN NOT
    NULL DEFAULT 0, typdelim TEXT NOT NULL DEFAULT '', typrelid OID NOT NULL DEFAULT 0,
    typsubscript OID NOT NULL DEFAULT 0, typelem OID NOT NULL DEFAULT 0, typarray OID NOT NULL
    DEFAULT 0, typinput OID NOT NULL DEFAULT 0, typoutput OID NOT NULL DEFAULT 0, typreceive OID
    NOT NULL DEFAULT 0, typsend OID NOT NULL DEFAULT 0, typmodin OID NOT NULL DEFAULT 0,
    typmodout OID NOT NULL DEFAULT 0, typanalyze OID NOT NULL DEFAULT 0, typalign TEXT NOT NULL
    DEFAULT '', typstorage TEXT NOT NULL DEFAULT '', typnotnull BOOLEAN NOT NULL DEFAULT 0,
    typbasetype OID NOT NULL DEFAULT 0, typtypmod INT4 NOT NULL DEFAULT 0, typndims INT4 NOT NULL
    DEFAULT 0, typcollation OID NOT NULL DEFAULT 0, typdefaultbin TEXT, typdefault TEXT, typacl
    TEXT);
CREATE TABLE pg_user(usename TEXT, usesysid OID, usecreatedb BOOLEAN, usesuper BOOLEAN,
    userepl BOOLEAN, usebypassrls BOOLEAN, passwd TEXT, valuntil TEXT, useconfig TEXT);
CREATE TABLE pg_user_mappings(umid OID, srvid OID, srvname TEXT, umuser OID, usename
    TEXT, umoptions TEXT);
CREATE TABLE pg_views(schemaname TEXT, viewname TEXT, viewowner TEXT, definition TEXT);
CREATE TABLE information_schema_columns(table_catalog TEXT, table_schema TEXT, table_name
    TEXT, column_name TEXT, ordinal_position INT4, column_default TEXT, is_nullable TEXT,
    data_type TEXT, character_maximum_length INT4, character_octet_length INT4,
    numeric_precision INT4, numeric_precision_radix INT4, numeric_scale INT4,
    datetime_precision INT4, interval_type TEXT, interval_precision INT4, character_set_catalog
    TEXT, character_set_schema TEXT, character_set_name TEXT, collation_catalog TEXT,
    collation_schema TEXT, collation_name TEXT, domain_catalog TEXT, domain_schema TEXT,
    domain_name TEXT, udt_catalog TEXT, udt_schema TEXT, udt_name TEXT, scope_catalog TEXT,
    scope_schema TEXT, scope_name TEXT, maximum_cardinality INT4, dtd_identifier TEXT,
    is_self_referencing TEXT, is_identity TEXT, identity_generation TEXT, identity_start TEXT,
    identity_increment TEXT, identity_maximum TEXT, identity_minimum TEXT, identity_cycle TEXT,
    is_generated TEXT, generation_expression TEXT, is_updatable TEXT);
CREATE TABLE information_schema_constraint_column_usage(table_catalog TEXT, table_schema TEXT,
    table_name TEXT, column_name TEXT, constraint_catalog TEXT, constraint_schema TEXT,
    constraint_name TEXT);
CREATE TABLE information_schema_key_column_usage(constraint_catalog TEXT, constraint_schema
    TEXT, constraint_name TEXT, table_catalog TEXT, table_schema TEXT, table_name TEXT,
    column_name TEXT, ordinal_position INT4, position_in_unique_constraint INT4);
CREATE TABLE information_schema_parameters(specific_catalog TEXT, specific_schema TEXT,
    specific_name TEXT, ordinal_position INT4, parameter_mode TEXT, is_result TEXT,
    as_locator TEXT, parameter_name TEXT, data_type TEXT, character_maximum_length INT4,
    character_octet_length INT4, character_set_catalog TEXT, character_set_schema TEXT,
    character_set_name TEXT, collation_catalog TEXT, collation_schema TEXT, collation_name
    TEXT, numeric_precision INT4, numeric_precision_radix INT4, numeric_scale INT4,
    datetime_precision INT4, interval_type TEXT, interval_precision INT4, udt_catalog TEXT,
    udt_schema TEXT, udt_name TEXT, scope_catalog TEXT, scope_schema TEXT, scope_name TEXT,
    maximum_cardinality INT4, dtd_identifier TEXT, parameter_default TEXT);
CREATE TABLE information_schema_referential_constraints(constraint_catalog TEXT,
    constraint_schema TEXT, constraint_name TEXT, unique_constraint_catalog TEXT,
    unique_constraint_schema TEXT, unique_constraint_name TEXT, match_option TEXT, update_rule
    TEXT, delete_rule TEXT);
CREATE TABLE information_schema_routines(specific_catalog TEXT, specific_schema TEXT,
    specific_name TEXT, routine_catalog TEXT, routine_schema TEXT, routine_name TEXT,
    routine_type TEXT, module_catalog TEXT, module_schema TEXT, module_name TEXT, udt_catalog
    TEXT, udt_schema TEXT, udt_name TEXT, data_type TEXT, character_maximum_length INT4,
    character_octet_length INT4, character_set_catalog TEXT, character_set_schema TEXT,
    character_set_name TEXT, collation_catalog TEXT, collation_schema TEXT, collation_name
    TEXT, numeric_precision INT4, numeric_precision_radix INT4, numeric_scale INT4,
    datetime_precision INT4, interval_type TEXT, interval_precision INT4, type_udt_catalog
    TEXT, type_udt_schema TEXT, type_udt_name TEXT, scope_catalog TEXT, scope_schema TEXT,
    scope_name TEXT, maximum_cardinality INT4, dtd_identifier TEXT, routine_body TEXT,
    routine_definition TEXT, external_name TEXT, external_language TEXT, parameter_style TEXT,
    is_deterministic TEXT, sql_data_access TEXT, is_null_call TEXT, sql_path TEXT,
    schema_level_routine TEXT, max_dynamic_result_sets INT4, is_user_defined_cast TEXT,
    is_implicitly_invocable TEXT, security_type TEXT, to_sql_specific_catalog TEXT,
    to_sql_specific_schema TEXT, to_sql_specific_name TEXT, as_locator TEXT, created TEXT,
    last_altered TEXT, new_savepoint_level TEXT, is_udt_dependent TEXT,
    result_cast_from_data_type TEXT, result_cast_as_locator TEXT, result_cast_char_max_length
    INT4, result_cast_char_octet_length INT4, result_cast_char_set_catalog TEXT,
    result_cast_char_set_schema TEXT, result_cast_char_set_name TEXT,
    result_cast_collation_catalog TEXT, result_cast_collation_schema TEXT,
    result_cast_collation_name TEXT, result_cast_numeric_precision INT4,
    result_cast_numeric_precision_radix INT4, result_cast_numeric_scale INT4,
    result_cast_datetime_precision INT4, result_cast_interval_type TEXT,
    result_cast_interval_precision INT4, result_cast_type_udt_catalog TEXT,
    result_cast_type_udt_schema TEXT, result_cast_type_udt_name TEXT, result_cast_scope_catalog
    TEXT, result_cast_scope_schema TEXT, result_cast_scope_name TEXT,
    result_cast_maximum_cardinality INT4, result_cast_dtd_identifier TEXT);
CREATE TABLE information_schema_schemata(catalog_name TEXT, schema_name TEXT, schema_owner
    TEXT, default_character_set_catalog TEXT, default_character_set_schema TEXT,
    default_character_set_name TEXT, sql_path TEXT);
CREATE TABLE information_schema_sequences(sequence_catalog TEXT, sequence_schema TEXT,
    sequence_name TEXT, data_type TEXT, numeric_precision INT4, numeric_precision_radix INT4,
    numeric_scale INT4, start_value TEXT, minimum_value TEXT, maximum_value TEXT, increment
    TEXT, cycle_option TEXT);
CREATE TABLE information_schema_table_constraints(constraint_catalog TEXT, constraint_schema
    TEXT, constraint_name TEXT, table_catalog TEXT, table_schema TEXT, table_name TEXT,
    constraint_type TEXT, is_deferrable TEXT, initially_deferred TEXT, enforced TEXT,
    nulls_distinct TEXT);
CREATE TABLE information_schema_tables(table_catalog TEXT, table_schema TEXT, table_name
    TEXT, table_type TEXT, self_referencing_column_name TEXT, reference_generation TEXT,
    user_defined_type_catalog TEXT, user_defined_type_schema TEXT, user_defined_type_name TEXT,
    is_insertable_into TEXT, is_typed TEXT, commit_action TEXT);
CREATE TABLE information_schema_views(table_catalog TEXT, table_schema TEXT, table_name TEXT,
    view_definition TEXT, check_option TEXT, is_updatable TEXT, is_insertable_into TEXT,
    is_trigger_updatable TEXT, is_trigger_deletable TEXT, is_trigger_insertable_into TEXT);
