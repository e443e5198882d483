import { useEffect, useState } from 'preact/hooks';
import { call, session } from '../api.js';
import { listenToApprovals } from '../live.js';
import { query, setQuery } from '../location.js';
import type { ListedApproval, Problem } from '../types.js';
import {
  Card,
  Empty,
  PageHead,
  ProblemBox,
  RelativeTime,
  ReloadButton,
  ResourceState,
  State,
  useResource,
} from '../ui/parts.js';
import { Table } from '../ui/table.js';
import { useNow } from '../ui/ticks.js';

interface ShownArguments {
  /** JSON text without invisible characters. */
  readonly arguments: string;
  readonly has_invisible: boolean;
}

interface WholeApproval extends ListedApproval, ShownArguments {
  readonly headers: readonly string[];
  readonly previous: (ShownArguments & { readonly decided_at: string }) | null;
}

const SECOND_MS = 1000;

/** The list is part of the host's events, so that an open page does not prolong its session. */
export function ApprovalsPage() {
  const read = useResource<{ approvals: ListedApproval[] }>('/approvals?limit=1000');
  const [live, setLive] = useState<readonly ListedApproval[] | null>(null);
  useEffect(() => listenToApprovals(setLive), []);
  const approvals = live ?? read.data?.approvals;
  const reload = () => {
    setLive(null);
    read.reload();
  };
  const resource = { ...read, reload };
  const selected = query.value.get('id');
  return (
    <>
      <PageHead title="Approvals">
        <ReloadButton of={resource} />
      </PageHead>
      <ResourceState of={resource} />
      {selected !== null && (
        <ApprovalCard
          key={selected}
          id={selected}
          status={approvals?.find(({ id }) => id === selected)?.status ?? null}
        />
      )}
      {approvals?.length === 0 && (
        <Empty title="No pending requests">
          Dangerous calls of agents wait here for a decision.
        </Empty>
      )}
      {approvals && approvals.length > 0 && (
        <Table
          caption="Requests for approval"
          rows={approvals}
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
            { id: 'expires', head: 'Expires', cell: (approval) => <TimeLeft of={approval} /> },
          ]}
        />
      )}
    </>
  );
}

/** @param status the status in the list; the request is read again when it changes */
function ApprovalCard({ id, status }: { id: string; status: string | null }) {
  const resource = useResource<WholeApproval>(`/approvals/${encodeURIComponent(id)}`, status);
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
  const reason = actor?.kind === 'user' ? null : 'Only a user can decide: sign in as a person.';
  return (
    <Card title={data ? `${data.name} of ${data.module}` : 'Request'}>
      <ResourceState of={resource} />
      {data && (
        <>
          <p>
            {data.actor.kind}:{data.actor.id} requests this call ({data.danger_level} danger).{' '}
            <TimeLeft of={data} />
          </p>
          {data.has_invisible && (
            <p role="alert">
              The arguments contain invisible characters. They are shown as escapes such as \u200b.
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
                Previously approved, <RelativeTime at={data.previous.decided_at} />
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

/** Shows a text, and marks the part that differs from another one. */
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
  const leftMs = Date.parse(of.expires_at) - useNow(SECOND_MS);
  const seconds = Math.max(0, Math.round(leftMs / SECOND_MS));
  if (of.status !== 'pending') return <>–</>;
  return (
    <time dateTime={of.expires_at}>
      {Math.floor(seconds / 60)} min {seconds % 60} s left
    </time>
  );
}
