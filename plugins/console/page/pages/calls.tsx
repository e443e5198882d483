import { useEffect, useRef, useState } from 'preact/hooks';
import {
  ALL_CALL_MEMBERS,
  type CallMemberName,
  listCallMembers,
} from '../../../../core/contract/call-record.js';
import { escapeLine } from '../../../../core/contract/visible-text.js';
import { findResource, get } from '../api.js';
import { formatJson } from '../exact-json.js';
import { epoch, listenToCalls } from '../live.js';
import { pathTo, query, setQuery } from '../location.js';
import type { CallRecord, Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { formatTime } from '../ui/format-time.js';
import { ListTable, ShownTable } from '../ui/list-table.js';
import { ModuleSelect } from '../ui/modules.js';
import { Panel } from '../ui/panel.js';
import {
  Empty,
  Loading,
  PageHead,
  ProblemBox,
  ResourceState,
  Status,
  useResource,
} from '../ui/parts.js';
import { TimeSelect } from '../ui/time-select.js';

/** The page drops older calls; the host keeps them. */
const MAX_SHOWN = 2000;
const PAGE_SIZE = 100;
/** `host_` and the first digits, which identify a host for people. */
const SHORT_ID = 13;

const CELLS = {
  at: ({ at }: CallRecord) => <time dateTime={at}>{formatTime(at)}</time>,
  module: ({ module, module_named: named }: CallRecord) => module ?? named ?? '–',
  route: (call: CallRecord) => (
    <button type="button" class="link" onClick={() => setQuery({ call: call.request_id })}>
      {call.method} {call.route ?? call.path_named ?? '–'}
    </button>
  ),
  failure: ({ failure, failure_detail: why, step, detail }: CallRecord) => (
    <span class="clip wide" title={why ?? detail ?? ''}>
      {failure ?? step}
    </span>
  ),
  host: ({ host }: CallRecord) => (
    <span class="clip" title={host ?? ''}>
      {host?.slice(0, SHORT_ID) ?? '–'}
    </span>
  ),
};

export function CallsPage() {
  const filters = readFilters();
  const { module } = filters;
  const by = query.value.get('by') ?? '';
  const [isPaused, setPaused] = useState(false);
  const { calls, hosts, problem, isCut, next, isBusy, more } = useCalls(filters, isPaused);
  const asked = query.value.get('call');
  const opened = calls?.find(({ request_id: id }) => id === asked);
  return (
    <>
      <PageHead title="Calls">
        <ModuleSelect value={module} onSelect={(name) => setQuery({ module: name })} />
        <TextFilter name="status" label="Status" value={filters.status} />
        <TextFilter name="route" label="Route" value={filters.route} />
        <TextFilter name="code" label="Code" value={filters.code} />
        <TextFilter name="step" label="Step" value={filters.step} />
        <TextFilter name="actor" label="Actor" value={filters.actor} />
        {hosts && <TextFilter name="host" label="Host" value={filters.host} />}
        <TextFilter name="request_id" label="Request ID" value={filters.request_id} />
        <TimeSelect label="Since" value={filters.since} onSelect={(since) => setQuery({ since })} />
        <TimeSelect label="Until" value={filters.until} onSelect={(until) => setQuery({ until })} />
        <label class="inline">
          Count by{' '}
          <select value={by} onChange={(event) => setQuery({ by: event.currentTarget.value })}>
            <option value="">nothing</option>
            {GROUPS.map((keys) => (
              <option key={keys} value={keys}>
                {keys.replace(',', ' and ')}
              </option>
            ))}
          </select>
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </PageHead>
      {problem && <ProblemBox problem={problem} />}
      {calls === null && !problem && <Loading />}
      {hosts === 'one' && (
        <p role="status">
          These are the calls of one host of the fleet. Start the hosts with{' '}
          <code>--keep-calls</code> to see those of all.
        </p>
      )}
      {opened && <CallPanel call={opened} />}
      {calls && asked !== null && !opened && (
        <p role="status">
          The call with the request ID <code>{asked}</code> is not among these.{' '}
          <button type="button" onClick={() => setQuery({ call: null, request_id: asked })}>
            Find it
          </button>
        </p>
      )}
      {calls?.length === 0 &&
        (FILTERS.some((name) => filters[name] !== '') ? (
          <Empty title="No call matches">Change or clear a filter.</Empty>
        ) : (
          <Empty title="No calls yet">
            Calls appear here as they happen. Try one on the page <a href={pathTo('api')}>API</a>.
          </Empty>
        ))}
      {by !== '' && <CallGroups filters={filters} by={by} />}
      {by === '' && calls !== null && calls.length > 0 && (
        <ListTable of="/calls" rows={calls} keyOf={keyOf} cells={CELLS} />
      )}
      {by === '' && isCut && (
        <p role="status">
          These are the newest {MAX_SHOWN.toLocaleString('en')} calls. Older ones are shown for a
          time in <em>Until</em>.
        </p>
      )}
      {by === '' && next !== null && !isCut && (
        <FocusableButton isOff={isBusy} onClick={more}>
          Show older calls
        </FocusableButton>
      )}
    </>
  );
}

const EQUAL = ['module', 'code', 'step', 'actor', 'host', 'request_id'] as const;
const FILTERS = [...EQUAL, 'route', 'status', 'since', 'until'] as const;
const GROUPS = ['actor', 'module', 'route', 'status', 'actor,route', 'module,status'];

type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

function readFilters(): Filters {
  return Object.fromEntries(
    FILTERS.map((name) => [name, query.value.get(name) ?? '']),
  ) as unknown as Filters;
}

/** Applied when it is complete: the host rejects a partial actor or code. */
function TextFilter({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <label class="inline">
      {label}{' '}
      <input
        placeholder="all"
        value={value}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
      />
    </label>
  );
}

/** Whether the host would list a call. */
function matches(call: CallRecord, filters: Filters): boolean {
  const { route, status, since, until } = filters;
  const at = Date.parse(call.at);
  return (
    EQUAL.every((name) => filters[name] === '' || String(call[name]) === filters[name]) &&
    (route === '' || [call.route, `${call.method} ${call.route}`].includes(route)) &&
    (status === '' || String(call.status).startsWith(status.replace('xx', ''))) &&
    (since === '' || at >= Date.parse(since)) &&
    (until === '' || at < Date.parse(until))
  );
}

function toParameters(filters: Filters): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (value !== '') parameters.set(name, value);
  }
  return parameters;
}

interface CallGroupList {
  readonly groups: readonly object[];
  readonly truncated: boolean;
}

function CallGroups({ filters, by }: { filters: Filters; by: string }) {
  const parameters = toParameters(filters);
  parameters.set('by', by);
  const counted = useResource<CallGroupList>(`/calls?${parameters}`);
  const { data } = counted;
  const [, table] = findResource('/calls')?.tables ?? [];
  return (
    <>
      <ResourceState of={counted} />
      {data && table && (
        <ShownTable table={table} rows={data.groups} keyOf={(row) => JSON.stringify(row)} />
      )}
      {data?.truncated && <p role="status">There are more: choose fewer by a filter.</p>}
    </>
  );
}

interface CallPage {
  readonly calls: CallRecord[];
  readonly next_cursor: string | null;
  /** The hosts whose calls are shown, in a fleet. */
  readonly hosts?: 'all' | 'one';
}

function useCalls(filters: Filters, isPaused: boolean) {
  const key = JSON.stringify(filters);
  const [calls, setCalls] = useState<readonly CallRecord[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [hosts, setHosts] = useState<CallPage['hosts']>();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  /** Whether the page has dropped calls of the list: what the host has next would leave a gap. */
  const [isCut, setCut] = useState(false);
  /** Ends the reads of the list of these filters. */
  const list = useRef(new AbortController());
  const restarts = epoch.value;
  const read = async (cursor: string | null, { signal }: AbortController) => {
    const parameters = toParameters(filters);
    parameters.set('limit', String(PAGE_SIZE));
    if (cursor !== null) parameters.set('cursor', cursor);
    const answer = await get<CallPage>(`/calls?${parameters}`, signal);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    setNext(answer.data.next_cursor);
    setHosts(answer.data.hosts);
    setCalls((before) => [...(cursor === null ? [] : (before ?? [])), ...answer.data.calls]);
  };
  useEffect(() => {
    const abort = new AbortController();
    list.current = abort;
    setCalls(null);
    setNext(null);
    setCut(false);
    setBusy(false);
    read(null, abort).catch(() => {});
    return () => abort.abort();
  }, [key, restarts]);
  useEffect(() => {
    if (isPaused) return;
    return listenToCalls((fresh) => {
      const fitting = fresh.filter((call) => matches(call, filters));
      if (fitting.length === 0) return;
      setCalls((before) => {
        const previousKeys = new Set(
          (before ?? []).slice(0, fitting.length + PAGE_SIZE).map(keyOf),
        );
        const added = fitting.filter((call) => !previousKeys.has(keyOf(call))).toReversed();
        const all = [...added, ...(before ?? [])];
        if (all.length > MAX_SHOWN) setCut(true);
        return all.slice(0, MAX_SHOWN);
      });
    });
  }, [key, isPaused]);
  const more = async () => {
    const current = list.current;
    setBusy(true);
    await read(next, current).catch(() => {});
    if (current === list.current) setBusy(false);
  };
  return { calls, hosts, problem, isCut, next, isBusy, more: () => void more() };
}

function CallPanel({ call }: { call: CallRecord }) {
  const explain = new URLSearchParams({ request_id: call.request_id });
  return (
    <Panel
      title={`${call.method} ${call.route ?? call.path_named ?? ''}`}
      onClose={() => setQuery({ call: null })}
    >
      <p>
        <Status value={call.status} />{' '}
        {call.module && <a href={pathTo('modules', call.module)}>{call.module}</a>} ·{' '}
        <a href={`${pathTo('explain')}?${explain}`}>Explain this call</a>
      </p>
      <dl class="pairs">
        {FACTS.map((name) => {
          const value = formatFact(call, name);
          return value === null ? null : (
            <div key={name}>
              <dt>{ALL_CALL_MEMBERS[name].label}</dt>
              <dd>{value}</dd>
            </div>
          );
        })}
      </dl>
      <Captured title="Request body" value={call.request_body} />
      <Captured title="Response body" value={call.response_body} />
    </Panel>
  );
}

const IN_TITLE: ReadonlySet<CallMemberName> = new Set(['method', 'module', 'route', 'status']);
const FACTS = listCallMembers<CallMemberName>(() => true).filter((name) => !IN_TITLE.has(name));

function formatFact(call: CallRecord, name: CallMemberName): string | null {
  const value = call[name] ?? null;
  if (value === null) return null;
  if (name === 'at') return formatTime(call.at);
  if (ALL_CALL_MEMBERS[name].kind === 'number') return `${Number(value).toFixed(2)} ms`;
  if (typeof value !== 'object') return String(value);
  if (value.length === 0) return null;
  return value.map(({ field, reason }) => (field ? `${field}: ${reason}` : reason)).join('; ');
}

/** Shown if the descriptor captures bodies. */
function Captured({ title, value }: { title: string; value: unknown }) {
  if (value === undefined || value === null) return null;
  return (
    <details>
      <summary>{title}</summary>
      <pre>{typeof value === 'string' ? value : formatJson(value, 2)}</pre>
    </details>
  );
}

const keyOf = ({ request_id: id, at }: CallRecord) => `${id} ${at}`;

export function nameActor(actor: CallRecord['actor']): string {
  return actor === null ? '–' : escapeLine(actor);
}
