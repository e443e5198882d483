import { useState } from 'preact/hooks';
import type { AuditRow } from '../../../../core/contract/audit-row.js';
import { get } from '../api.js';
import { type ChainVerdict, verifyChain } from '../audit-chain.js';
import { query, setQuery } from '../location.js';
import type { Problem } from '../types.js';
import { ModuleSelect } from '../ui/modules.js';
import {
  Card,
  Empty,
  PageHead,
  ProblemBox,
  ReloadButton,
  ResourceState,
  State,
  useResource,
} from '../ui/parts.js';
import { Table } from '../ui/table.js';

const PAGE_SIZE = 100;
const CHAIN_PAGE = 1000;

interface AuditPage {
  readonly rows: readonly AuditRow[];
  readonly next_after: number | null;
}

export function AuditPage() {
  const module = query.value.get('module') ?? '';
  const after = query.value.get('after') ?? '';
  const parameters = new URLSearchParams({
    limit: String(PAGE_SIZE),
    ...(module && { module }),
    ...(after && { after }),
  });
  const resource = useResource<AuditPage>(`/audit?${parameters}`);
  const { data } = resource;
  return (
    <>
      <PageHead title="Audit">
        <ModuleSelect value={module} onSelect={(name) => setQuery({ module: name, after: null })} />
        <ReloadButton of={resource} />
      </PageHead>
      <ChainCard />
      <ResourceState of={resource} />
      {data?.rows.length === 0 && (
        <Empty title="No rows yet">
          Run an action of a module, or write a value of its configuration: each leaves a row here.
        </Empty>
      )}
      {data && data.rows.length > 0 && (
        <Table
          caption="Audit, oldest first"
          rows={data.rows}
          keyOf={({ id }) => String(id)}
          columns={[
            { id: 'id', head: 'Row', isNumber: true, cell: ({ id }) => id },
            {
              id: 'at',
              head: 'Time',
              cell: ({ at }) => <time dateTime={at}>{new Date(at).toLocaleString()}</time>,
            },
            { id: 'actor', head: 'Actor', cell: ({ actor }) => `${actor.kind}:${actor.id}` },
            { id: 'module', head: 'Module', cell: (row) => row.module },
            {
              id: 'operation',
              head: 'Operation',
              cell: ({ operation, target }) => (
                <>
                  {operation} <code>{target}</code>
                </>
              ),
            },
            { id: 'outcome', head: 'Outcome', cell: ({ outcome }) => <State value={outcome} /> },
            { id: 'request', head: 'Request', cell: ({ request_id: id }) => <code>{id}</code> },
          ]}
        />
      )}
      <div class="row">
        {after !== '' && (
          <button type="button" onClick={() => setQuery({ after: null })}>
            First rows
          </button>
        )}
        {data?.next_after != null && (
          <button type="button" onClick={() => setQuery({ after: String(data.next_after) })}>
            Newer rows
          </button>
        )}
      </div>
    </>
  );
}

/** The browser recomputes every hash instead of trusting the host. */
function ChainCard() {
  const [progress, setProgress] = useState<number | null>(null);
  const [verdict, setVerdict] = useState<ChainVerdict | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const verify = async () => {
    setVerdict(null);
    setProblem(null);
    setProgress(0);
    const verification = await verifyChain(async (after) => {
      const answer = await get<AuditPage>(
        `/audit?limit=${CHAIN_PAGE}${after === null ? '' : `&after=${after}`}`,
      );
      if (!answer.ok) setProblem(answer.problem);
      return answer.ok ? answer.data : null;
    }, setProgress);
    setProgress(null);
    setVerdict(verification);
  };
  return (
    <Card
      title="Chain of hashes"
      tools={
        <button type="button" disabled={progress !== null} onClick={() => void verify()}>
          Verify chain
        </button>
      }
    >
      <p class="fine">
        Each row contains the hash of the row before. Your browser computes all of them again.
      </p>
      {progress !== null && <p role="status">{progress.toLocaleString('en')} rows verified…</p>}
      {problem && <ProblemBox problem={problem} />}
      {verdict && (
        <p role="status">
          {verdict.fault === null ? (
            <>
              <State value="success" /> {verdict.rows.toLocaleString('en')} rows form one chain.
              {verdict.rows > 0 && (
                <>
                  {' '}
                  Last hash <code>{verdict.head}</code>
                </>
              )}
            </>
          ) : (
            <>
              <State value="failed" /> {verdict.fault}
            </>
          )}
        </p>
      )}
    </Card>
  );
}
