import { useEffect, useState } from 'preact/hooks';
import { type Answer, call } from '../api.js';
import { pathTo, query, setQuery, targetOf } from '../location.js';
import type { CallRecord, Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { formatTime } from '../ui/format-time.js';
import {
  Card,
  Empty,
  Loading,
  PageHead,
  ProblemBox,
  State,
  Status,
  useResource,
} from '../ui/parts.js';
import { Table } from '../ui/table.js';
import { nameActor } from './calls.js';

interface Check {
  readonly check: string;
  readonly outcome: 'pass' | 'fail' | 'unknown';
  readonly status: number | null;
  readonly detail: string;
  readonly next_actions: readonly string[];
}

interface Explanation {
  readonly method: string;
  readonly target: string;
  readonly verdict: { readonly status: number | null; readonly detail: string };
  readonly actor: { readonly kind: string; readonly id: string } | null;
  readonly path: { readonly forward_target: string | null };
  readonly checks: readonly Check[];
  readonly module: { readonly name: string; readonly file: string } | null;
  readonly route: {
    readonly method: string;
    readonly declared_path: string;
    readonly capability: string | null;
  } | null;
  readonly headers: readonly {
    readonly name: string;
    readonly value: string | null;
    readonly from: string;
  }[];
  readonly limits: readonly {
    readonly name: string;
    readonly value: number | string;
    readonly source: string | null;
  }[];
}

/** A browser does not send such a header. */
const UNSENDABLE_TOKEN: Problem = {
  status: 0,
  code: 'validation_failed',
  title: 'Check the token',
  detail: 'the token has characters beyond ASCII, which no header can hold: nothing was sent',
  request_id: null,
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export function ExplainPage() {
  const requestId = query.value.get('request_id');
  const method = query.value.get('method');
  const target = query.value.get('target');
  const question = method !== null && target !== null ? { method, target } : null;
  return (
    <>
      <PageHead title="Explain" />
      {requestId ? <ExplainedCalls requestId={requestId} /> : <ExplainForm question={question} />}
    </>
  );
}

interface ExplainFormProps {
  readonly question: { readonly method: string; readonly target: string } | null;
  /** Whether it is explained on request instead of immediately. */
  readonly isWaiting?: boolean;
}

function ExplainForm({ question, isWaiting = false }: ExplainFormProps) {
  const [method, setMethod] = useState(question?.method ?? 'GET');
  const [target, setTarget] = useState(question?.target ?? '/modules/');
  const [token, setToken] = useState('');
  const [client, setClient] = useState('');
  const [answer, setAnswer] = useState<Answer<Explanation> | null>(null);
  const [isBusy, setBusy] = useState(false);
  const explain = async () => {
    if (!/^[ -~]*$/.test(token)) {
      setAnswer({ ok: false, status: 0, problem: UNSENDABLE_TOKEN });
      return;
    }
    setBusy(true);
    const parameters = new URLSearchParams({ method, target, ...(client && { client }) });
    const headers = token === '' ? {} : { 'modgate-explain-as': token };
    setAnswer(await call<Explanation>('GET', `/explain?${parameters}`, { headers }));
    setToken('');
    setBusy(false);
  };
  useEffect(() => {
    if (question !== null && !isWaiting) void explain();
  }, []);
  return (
    <>
      <Card>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (query.value.get('request_id') === null) setQuery({ method, target });
            void explain();
          }}
        >
          <div class="row">
            <label>
              Method
              <select value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
                {METHODS.map((method) => (
                  <option key={method}>{method}</option>
                ))}
              </select>
            </label>
            <label class="grow">
              Path, as a caller sends it
              <input
                required
                value={target}
                onInput={(event) => setTarget(event.currentTarget.value)}
              />
            </label>
          </div>
          <label>
            As whom
            <span class="help">
              the token of another caller; empty: you. It is sent once and not kept.
            </span>
            <input
              type="password"
              autocomplete="off"
              value={token}
              onInput={(event) => setToken(event.currentTarget.value)}
            />
          </label>
          <label>
            From which address
            <span class="help">
              only modules with allow in their descriptor decide by it; empty: not known.
            </span>
            <input
              value={client}
              onInput={(event) => setClient(event.currentTarget.value.trim())}
            />
          </label>
          <div class="row">
            <FocusableButton type="submit" class="primary" isOff={isBusy}>
              Explain
            </FocusableButton>
          </div>
        </form>
      </Card>
      {answer && !answer.ok && <ProblemBox problem={answer.problem} />}
      {answer?.ok && <Decision explanation={answer.data} />}
    </>
  );
}

function Steps({ checks, label }: { checks: readonly Check[]; label?: string }) {
  return (
    <ol class="steps" aria-label={label}>
      {checks.map(({ check, outcome, status, detail, next_actions: next }) => (
        <li key={check} class={outcome}>
          <b>{check}</b> <State value={OUTCOMES[outcome]} />{' '}
          {status !== null && <Status value={status} />}
          <p class="fine">{detail}</p>
          {next.length > 0 && <p class="fine next">{next.join('; ')}</p>}
        </li>
      ))}
    </ol>
  );
}

const OUTCOMES = { pass: 'allow', fail: 'deny', unknown: 'unknown' };

function Decision({ explanation }: { explanation: Explanation }) {
  const { verdict, checks, actor, module, route, path, headers, limits } = explanation;
  const isDenied = checks.some(({ outcome }) => outcome === 'fail');
  const forwarded = isDenied ? null : path.forward_target;
  return (
    <>
      <Card title="Decision">
        <p role="status">
          {verdict.status !== null && <Status value={verdict.status} />} {verdict.detail}
        </p>
        <dl class="pairs">
          <div>
            <dt>Actor</dt>
            <dd>{actor ? nameActor(`${actor.kind}:${actor.id}`) : 'none'}</dd>
          </div>
          <div>
            <dt>Module</dt>
            <dd>{module ? <a href={pathTo('modules', module.name)}>{module.name}</a> : 'none'}</dd>
          </div>
          <div>
            <dt>Route</dt>
            <dd>{route ? <code>{`${route.method} ${route.declared_path}`}</code> : 'none'}</dd>
          </div>
          <div>
            <dt>Capability</dt>
            <dd>{route?.capability ?? 'none'}</dd>
          </div>
          <div>
            <dt>Provider gets</dt>
            <dd>{forwarded === null ? 'nothing' : <code>{forwarded}</code>}</dd>
          </div>
        </dl>
      </Card>
      <Card title="Step by step">
        <Steps checks={checks} />
      </Card>
      {headers.length > 0 && (
        <details>
          <summary>{headers.length} headers to the provider</summary>
          <Table
            caption="Headers to the provider"
            rows={headers}
            keyOf={({ name }) => name}
            columns={[
              { id: 'name', head: 'Header', cell: ({ name }) => <code>{name}</code> },
              {
                id: 'value',
                head: 'Value',
                cell: ({ value }) => value ?? <span class="fine">not shown</span>,
              },
              { id: 'from', head: 'From', cell: ({ from }) => from },
            ]}
          />
        </details>
      )}
      {limits.length > 0 && (
        <details>
          <summary>{limits.length} limits of the module</summary>
          <Table
            caption="Limits"
            rows={limits}
            keyOf={({ name }) => name}
            columns={[
              { id: 'name', head: 'Limit', cell: ({ name }) => <code>{name}</code> },
              { id: 'value', head: 'Value', cell: ({ value }) => value },
              { id: 'source', head: 'Where it is set', cell: ({ source }) => source ?? '–' },
            ]}
          />
        </details>
      )}
    </>
  );
}

/** A recorded call with the recorded and the current decision. */
interface ComparedCall extends CallRecord {
  readonly decision: { readonly status: number; readonly checks: readonly Check[] };
  /** `null` if the recorded actor or path is unknown. */
  readonly now: Explanation | null;
}

/** Shows the calls with a request ID: the recorded decision beside the current one. */
function ExplainedCalls({ requestId }: { requestId: string }) {
  const { data, problem, isLoading, reload } = useResource<{ calls: ComparedCall[] }>(
    `/explain?${new URLSearchParams({ request_id: requestId, now: 'true' })}`,
  );
  const last = data?.calls.find(({ module, route }) => module !== null && route !== null);
  const target = targetOf(last?.module ?? '', last?.route ?? '');
  return (
    <>
      <p class="fine">Calls with the request ID {requestId}</p>
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {isLoading && <Loading />}
      {data?.calls.length === 0 && <Empty title="No call has this ID" />}
      {data?.calls.map((compared) => (
        <Compared key={compared.at} call={compared} />
      ))}
      {last && <ExplainForm question={{ method: last.method, target }} isWaiting />}
    </>
  );
}

function Compared({ call }: { call: ComparedCall }) {
  const { decision, now } = call;
  const path = call.route ?? call.path_named ?? '';
  return (
    <Card title={`${call.method} ${path}`}>
      <p>
        <Status value={call.status} /> {nameActor(call.actor)} from {call.client ?? 'unknown'} ·{' '}
        {call.module ?? call.module_named ?? 'no module'} · {formatTime(call.at)}
      </p>
      <p class="fine">
        {call.detail ?? call.failure ?? 'not rejected'}
        {call.failure_detail && <>: {call.failure_detail}</>} · {call.attempts} attempts
        {call.endpoint && <> · {call.endpoint}</>} · {call.duration_ms.toFixed(1)} ms
      </p>
      <div class="columns">
        <section>
          <h3>Decided then</h3>
          <Steps checks={decision.checks} label="Decided then" />
        </section>
        <section>
          <h3>Decided now</h3>
          {now === null ? (
            <p class="fine">Not known: the record has no actor with scopes, or no path.</p>
          ) : (
            <>
              <p>
                {now.verdict.status !== null && <Status value={now.verdict.status} />}{' '}
                {now.verdict.detail}
              </p>
              <Steps checks={now.checks} label="Decided now" />
            </>
          )}
        </section>
      </div>
    </Card>
  );
}
