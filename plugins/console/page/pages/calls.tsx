import { useEffect, useState } from 'preact/hooks';
import { get } from '../api.js';
import { formatJson } from '../exact-json.js';
import { epoch, listenToCalls } from '../live.js';
import { pathTo, query, setQuery } from '../location.js';
import type { CallRecord, Problem } from '../types.js';
import { ModuleSelect } from '../ui/modules.js';
import { Panel } from '../ui/panel.js';
import { Empty, Loading, PageHead, ProblemBox, Status } from '../ui/parts.js';
import { type Column, Table } from '../ui/table.js';

/** Older ones are dropped from the page, not from the host. */
const MAX_SHOWN = 2000;
const PAGE_SIZE = 100;

const COLUMNS: readonly Column<CallRecord>[] = [
  {
    id: 'at',
    head: 'Time',
    cell: ({ at }) => <time dateTime={at}>{new Date(at).toLocaleTimeString()}</time>,
  },
  { id: 'module', head: 'Module', cell: ({ module }) => module ?? '–' },
  {
    id: 'route',
    head: 'Route',
    cell: (one) => (
      <button type="button" class="link" onClick={() => setQuery({ call: one.request_id })}>
        {one.method} {one.route ?? '–'}
      </button>
    ),
  },
  { id: 'status', head: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    id: 'failure',
    head: 'Failure',
    cell: ({ failure, failure_detail: detail }) => (
      <span class="clip wide" title={detail ?? ''}>
        {failure}
      </span>
    ),
  },
  { id: 'actor', head: 'Actor', cell: ({ actor }) => nameActor(actor) },
  {
    id: 'ms',
    head: 'Duration',
    isNumber: true,
    cell: ({ duration_ms: ms }) => `${ms.toFixed(1)} ms`,
  },
];

export function CallsPage() {
  const module = query.value.get('module') ?? '';
  const status = query.value.get('status') ?? '';
  const [isPaused, setPaused] = useState(false);
  const { calls, problem, next, more } = useCalls(module, status, isPaused);
  const opened = calls?.find(({ request_id: id }) => id === query.value.get('call'));
  return (
    <>
      <PageHead title="Calls">
        <ModuleSelect value={module} onSelect={(name) => setQuery({ module: name })} />
        <label class="inline">
          Status{' '}
          <input
            class="short"
            inputMode="numeric"
            pattern="[1-5]\d\d"
            placeholder="all"
            value={status}
            onInput={(event) => setQuery({ status: event.currentTarget.value })}
          />
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </PageHead>
      {problem && <ProblemBox problem={problem} />}
      {calls === null && !problem && <Loading />}
      {opened && <CallPanel one={opened} />}
      {calls?.length === 0 && (
        <Empty title="No calls yet">
          Calls appear here as they happen. Try one on the page <a href={pathTo('api')}>API</a>.
        </Empty>
      )}
      {calls !== null && calls.length > 0 && (
        <Table
          caption="Calls, newest first"
          columns={COLUMNS}
          rows={calls}
          keyOf={({ request_id: id, at }) => `${id} ${at}`}
        />
      )}
      {next !== null && (
        <button type="button" onClick={more}>
          Show older calls
        </button>
      )}
    </>
  );
}

interface CallPage {
  readonly calls: CallRecord[];
  readonly next_cursor: string | null;
}

function useCalls(module: string, status: string, isPaused: boolean) {
  const [calls, setCalls] = useState<readonly CallRecord[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const restarts = epoch.value;
  const read = async (cursor: string | null, signal?: AbortSignal) => {
    const parameters = new URLSearchParams({ limit: String(PAGE_SIZE) });
    if (module !== '') parameters.set('module', module);
    if (/^[1-5]\d\d$/.test(status)) parameters.set('status', status);
    if (cursor !== null) parameters.set('cursor', cursor);
    const answer = await get<CallPage>(`/calls?${parameters}`, signal);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    setNext(answer.data.next_cursor);
    setCalls((before) => [...(cursor === null ? [] : (before ?? [])), ...answer.data.calls]);
  };
  useEffect(() => {
    const abort = new AbortController();
    setCalls(null);
    read(null, abort.signal).catch(() => {});
    return () => abort.abort();
  }, [module, status, restarts]);
  useEffect(() => {
    if (isPaused) return;
    return listenToCalls((fresh) => {
      const fitting = fresh.filter(
        (one) =>
          (module === '' || one.module === module) &&
          (status === '' || String(one.status) === status),
      );
      if (fitting.length === 0) return;
      setCalls((before) => {
        const known = new Set((before ?? []).slice(0, fitting.length + PAGE_SIZE).map(keyOf));
        const added = fitting.filter((one) => !known.has(keyOf(one))).toReversed();
        return [...added, ...(before ?? [])].slice(0, MAX_SHOWN);
      });
    });
  }, [module, status, isPaused]);
  return { calls, problem, next, more: () => void read(next) };
}

function CallPanel({ one }: { one: CallRecord }) {
  const explain = new URLSearchParams({ request_id: one.request_id });
  const facts: [string, string | number | null | undefined][] = [
    ['At', new Date(one.at).toLocaleString()],
    ['Actor', nameActor(one.actor)],
    ['Failure', one.failure],
    ['Reason', one.failure_detail],
    ['Endpoint', one.endpoint],
    ['Attempts', one.attempts],
    ['Duration', `${one.duration_ms.toFixed(2)} ms`],
    ['Provider', one.provider_ms === null ? null : `${one.provider_ms.toFixed(2)} ms`],
    ['Request', one.request_id],
    ['Correlation', one.correlation_id],
    ['Trace', one.trace_id],
    ['Through', one.surface],
  ];
  return (
    <Panel title={`${one.method} ${one.route ?? ''}`} onClose={() => setQuery({ call: null })}>
      <p>
        <Status value={one.status} />{' '}
        {one.module && <a href={pathTo('modules', one.module)}>{one.module}</a>} ·{' '}
        <a href={`${pathTo('explain')}?${explain}`}>Explain this call</a>
      </p>
      <dl class="pairs">
        {facts.map(([name, value]) =>
          value === null || value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      <Captured title="Request body" value={one.request_body} />
      <Captured title="Response body" value={one.response_body} />
    </Panel>
  );
}

/** There where the descriptor keeps bodies. */
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
  if (actor === null) return '–';
  return typeof actor === 'string' ? actor : `${actor.kind}:${actor.id}`;
}
