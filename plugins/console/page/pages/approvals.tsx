import { useEffect, useRef, useState } from 'preact/hooks';
import { call, session } from '../api.js';
import { listenToApprovals } from '../live.js';
import { query, setQuery } from '../location.js';
import type { ApprovalDetails, ListedApproval, Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { ListTable } from '../ui/list-table.js';
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
import { PhraseField } from '../ui/phrase-field.js';
import { useNow } from '../ui/ticks.js';

const SECOND_MS = 1000;
/** As the host bounds it. */
const MAX_REASON = 500;

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
        <ListTable
          of="/approvals"
          rows={approvals}
          keyOf={({ id }) => id}
          cells={{
            name: ({ id, name }) => (
              <button type="button" onClick={() => setQuery({ id })}>
                {name}
              </button>
            ),
            expires_at: (approval) => <TimeLeft of={approval} />,
          }}
        />
      )}
    </>
  );
}

/** @param status the status in the list; the request is read again when it changes */
function ApprovalCard({ id, status }: { id: string; status: string | null }) {
  const resource = useResource<ApprovalDetails>(`/approvals/${encodeURIComponent(id)}`, status);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isSending, setSending] = useState(false);
  const [isRead, setRead] = useState(false);
  const [reason, setReason] = useState('');
  const [phrase, setPhrase] = useState('');
  const { data } = resource;
  const decide = async (body: { decision: 'approve' } | { decision: 'reject'; reason: string }) => {
    setSending(true);
    const answer = await call('POST', `/approvals/${encodeURIComponent(id)}`, { body });
    setSending(false);
    setProblem(answer.ok ? null : answer.problem);
    resource.reload();
  };
  const actor = session.value?.actor;
  const isUser = actor?.kind === 'user';
  const required = data?.confirmation?.required_phrase ?? null;
  const isConfirmed = required === null || phrase === required;
  const unread = isRead ? null : 'Read the arguments to their end to approve.';
  const unable = isUser ? unread : 'Only a user can decide: sign in as a person.';
  return (
    <Card title={data ? `${data.name} of ${data.module}` : 'Request'}>
      <ResourceState of={resource} />
      {data && (
        <>
          <p>
            {data.actor.kind}:{data.actor.id} requests this call ({data.danger_level} danger).{' '}
            {data.status === 'pending' && <TimeLeft of={data} />}
          </p>
          <Words of={data} />
          {data.has_invisible && (
            <p role="alert">
              The arguments contain blanks or invisible characters. They are shown as escapes such
              as \u200b.
            </p>
          )}
          {data.headers.length > 0 && (
            <>
              <h3>Headers</h3>
              <pre>
                {data.headers.map(({ name, value }) => (
                  <code key={name}>
                    {name}: <Escaped text={value} />
                    {'\n'}
                  </code>
                ))}
              </pre>
            </>
          )}
          <h3>Arguments, as they will be sent</h3>
          <p>
            {data.members} members, {data.bytes} bytes
          </p>
          <Changed
            text={data.arguments}
            before={data.previous?.arguments ?? null}
            onEnd={() => setRead(true)}
          />
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
            <>
              {required !== null && (
                <PhraseField phrase={required} text={phrase} onText={setPhrase} />
              )}
              <label>
                Reason of a rejection
                <span class="help">optional; the agent reads it</span>
                <input
                  autocomplete="off"
                  maxLength={MAX_REASON}
                  value={reason}
                  onInput={(event) => setReason(event.currentTarget.value)}
                />
              </label>
              <div class="row">
                <FocusableButton
                  isOff={isSending || !isUser || !isRead || !isConfirmed}
                  onClick={() => void decide({ decision: 'approve' })}
                >
                  Approve
                </FocusableButton>
                <FocusableButton
                  isOff={isSending || !isUser}
                  onClick={() => void decide({ decision: 'reject', reason })}
                >
                  Reject
                </FocusableButton>
                {unable && <span class="fine">{unable}</span>}
              </div>
            </>
          ) : (
            <p>
              <State value={data.status} />
              {data.decided_by && ` by ${data.decided_by.kind}:${data.decided_by.id}`}
              {data.reason !== null && `: ${data.reason}`}
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

/** What the manifest says of the operation. */
function Words({ of }: { of: ApprovalDetails }) {
  const { summary, description, confirmation } = of;
  return (
    <>
      {summary !== null && (
        <p>
          <strong>
            <Escaped text={summary} />
          </strong>
        </p>
      )}
      {description?.split('\n').map((line, index) => (
        <p key={index}>
          <Escaped text={line} />
        </p>
      ))}
      {confirmation !== null && (
        <p class="note">
          <Escaped text={confirmation.message} />
        </p>
      )}
    </>
  );
}

interface ChangedProps {
  readonly text: string;
  readonly before: string | null;
  /** Called when the end of the text is in view. */
  readonly onEnd?: () => void;
}

/** Shows a text, and marks the part that differs from another one. */
function Changed({ text, before, onEnd }: ChangedProps) {
  const [start, stop] = findChange(text, before ?? text);
  return (
    <pre tabIndex={0}>
      <code>
        <Escaped text={text.slice(0, start)} />
        {start < stop && (
          <mark>
            <Escaped text={text.slice(start, stop)} />
          </mark>
        )}
        <Escaped text={text.slice(stop)} />
      </code>
      {onEnd && <End onView={onEnd} />}
    </pre>
  );
}

function findChange(text: string, before: string): readonly [start: number, stop: number] {
  const shortest = Math.min(text.length, before.length);
  let start = 0;
  while (start < shortest && text[start] === before[start]) start += 1;
  let end = 0;
  while (end < shortest - start && text.at(-1 - end) === before.at(-1 - end)) end += 1;
  return [start, text.length - end];
}

const ESCAPE = /(\\(?:u[0-9a-f]{4}|.))/;

/** Marks the escapes of blanks and invisible characters. */
function Escaped({ text }: { text: string }) {
  return (
    <>
      {text.split(ESCAPE).map((part, index) =>
        /^\\[^\\"]/.test(part) ? (
          <span class="escape" key={index}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}

/** The end of a text, which may have to be scrolled into view. */
function End({ onView }: { onView: () => void }) {
  const end = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onView();
    });
    if (end.current !== null) observer.observe(end.current);
    return () => observer.disconnect();
  }, []);
  return <span ref={end} class="end" />;
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
