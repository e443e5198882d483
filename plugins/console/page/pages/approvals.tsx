import { useState } from 'preact/hooks';
import { call, session } from '../api.js';
import { query, setQuery } from '../location.js';
import type { Problem } from '../types.js';
import {
  Arrival,
  Card,
  Empty,
  Moment,
  PageHead,
  ProblemBox,
  ReloadButton,
  State,
  useResource,
} from '../ui/parts.js';
import { Table } from '../ui/table.js';
import { useLiveVersion } from '../ui/ticks.js';

interface ListedApproval {
  readonly id: string;
  readonly status: string;
  readonly module: string;
  readonly name: string;
  readonly danger_level: string;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly requested_at: string;
  readonly expires_at: string;
}

interface ShownArguments {
  /** JSON text in which nothing is invisible. */
  readonly arguments: string;
  readonly has_invisible: boolean;
}

interface WholeApproval extends ListedApproval, ShownArguments {
  readonly headers: readonly string[];
  readonly previous: (ShownArguments & { readonly decided_at: string }) | null;
}

/** How often the list is read again: requests come from other callers. */
const REFRESH_MS = 3000;

export function ApprovalsPage() {
  const version = useLiveVersion(REFRESH_MS);
  const resource = useResource<{ approvals: ListedApproval[] }>('/approvals?limit=1000', version);
  const { data } = resource;
  const selected = query.value.get('id');
  return (
    <>
      <PageHead title="Approvals">
        <ReloadButton of={resource} />
      </PageHead>
      <Arrival of={resource} />
      {selected !== null && <ApprovalCard key={selected} id={selected} version={version} />}
      {data?.approvals.length === 0 && (
        <Empty title="Nothing waits">Dangerous calls of agents wait here for a person.</Empty>
      )}
      {data && data.approvals.length > 0 && (
        <Table
          caption="Requests for approval"
          rows={data.approvals}
          keyOf={({ id }) => id}
          columns={[
            {
              id: 'id',
              head: 'Request',
              cell: ({ id, name }) => (
                <button type="button" onClick={() => setQuery({ id })}>
                  {name}
                </button>
              ),
            },
            { id: 'module', head: 'Module', cell: ({ module }) => module },
            { id: 'actor', head: 'Actor', cell: ({ actor }) => `${actor.kind}:${actor.id}` },
            { id: 'danger', head: 'Danger', cell: ({ danger_level: level }) => level },
            { id: 'status', head: 'Status', cell: ({ status }) => <State value={status} /> },
            { id: 'expires', head: 'Expires', cell: (one) => <TimeLeft of={one} /> },
          ]}
        />
      )}
    </>
  );
}

function ApprovalCard({ id, version }: { id: string; version: string }) {
  const resource = useResource<WholeApproval>(`/approvals/${encodeURIComponent(id)}`, version);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isSending, setSending] = useState(false);
  const { data } = resource;
  const decide = async (decision: 'approve' | 'reject') => {
    setSending(true);
    const answer = await call('POST', `/approvals/${encodeURIComponent(id)}`, {
      body: { decision },
    });
    setSending(false);
    setProblem(answer.ok ? null : answer.problem);
    resource.reload();
  };
  const actor = session.value?.actor;
  const reason = actor?.kind === 'user' ? null : 'Only a user decides: sign in as a person.';
  return (
    <Card title={data ? `${data.name} of ${data.module}` : 'Request'}>
      <Arrival of={resource} />
      {data && (
        <>
          <p>
            {data.actor.kind}:{data.actor.id} asks for this call ({data.danger_level} danger).{' '}
            <TimeLeft of={data} />
          </p>
          {data.has_invisible && (
            <p role="alert">
              The arguments hold characters that people do not see. They are shown as escapes such
              as \u200b.
            </p>
          )}
          <h3>Arguments, as they will be sent</h3>
          <Changed text={data.arguments} before={data.previous?.arguments ?? null} />
          {data.headers.length > 0 && <p>With the headers {data.headers.join(', ')}.</p>}
          {data.previous === null ? (
            <p>No call of this operation was approved before.</p>
          ) : (
            <>
              <h3>
                Approved before, <Moment at={data.previous.decided_at} />
              </h3>
              <Changed text={data.previous.arguments} before={data.arguments} />
            </>
          )}
          {problem && <ProblemBox problem={problem} />}
          {data.status === 'pending' ? (
            <div class="row">
              <button
                type="button"
                disabled={isSending || reason !== null}
                onClick={() => void decide('approve')}
              >
                Approve
              </button>
              <button
                type="button"
                disabled={isSending || reason !== null}
                onClick={() => void decide('reject')}
              >
                Reject
              </button>
              {reason && <span class="fine">{reason}</span>}
            </div>
          ) : (
            <p>
              <State value={data.status} />
            </p>
          )}
        </>
      )}
      <button type="button" onClick={() => setQuery({ id: null })}>
        Close
      </button>
    </Card>
  );
}

/** A text, of which the part that differs from another one is marked. */
function Changed({ text, before }: { text: string; before: string | null }) {
  if (before === null || before === text) {
    return (
      <pre>
        <code>{text}</code>
      </pre>
    );
  }
  const shortest = Math.min(text.length, before.length);
  let start = 0;
  while (start < shortest && text[start] === before[start]) start += 1;
  let end = 0;
  while (end < shortest - start && text.at(-1 - end) === before.at(-1 - end)) end += 1;
  const stop = text.length - end;
  return (
    <pre>
      <code>
        {text.slice(0, start)}
        <mark>{text.slice(start, stop)}</mark>
        {text.slice(stop)}
      </code>
    </pre>
  );
}

function TimeLeft({ of }: { of: Pick<ListedApproval, 'expires_at' | 'status'> }) {
  const seconds = Math.max(0, Math.round((Date.parse(of.expires_at) - Date.now()) / 1000));
  if (of.status !== 'pending') return <>–</>;
  return (
    <time dateTime={of.expires_at}>
      {Math.floor(seconds / 60)} min {seconds % 60} s left
    </time>
  );
}
