import { useState } from 'preact/hooks';
import type { AuditPage as Rows } from '../../../../core/contract/audit-row.js';
import { get } from '../api.js';
import { type ChainVerdict, verifyChain } from '../audit-chain.js';
import { query, setQuery } from '../location.js';
import type { Problem } from '../types.js';
import { FocusableButton } from '../ui/focusable-button.js';
import { ListTable } from '../ui/list-table.js';
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
import { TimeSelect } from '../ui/time-select.js';

const PAGE_SIZE = 100;
const CHAIN_PAGE = 1000;

export function AuditPage() {
  const module = query.value.get('module') ?? '';
  const since = query.value.get('since') ?? '';
  const after = query.value.get('after') ?? '';
  const parameters = new URLSearchParams({
    limit: String(PAGE_SIZE),
    ...(module && { module }),
    ...(since && { since }),
    ...(after && { after }),
  });
  const resource = useResource<Rows>(`/audit?${parameters}`);
  const { data } = resource;
  return (
    <>
      <PageHead title="Audit">
        <ModuleSelect value={module} onSelect={(name) => setQuery({ module: name, after: null })} />
        <TimeSelect
          label="Since"
          value={since}
          onSelect={(time) => setQuery({ since: time, after: null })}
        />
        <ReloadButton of={resource} />
      </PageHead>
      <ChainCard />
      <ResourceState of={resource} />
      {data?.rows.length === 0 &&
        (module === '' && since === '' ? (
          <Empty title="No rows yet">
            Run an action of a module, or write a value of its configuration: each leaves a row
            here.
          </Empty>
        ) : (
          <Empty title="No row matches">Change or clear a filter.</Empty>
        ))}
      {data && data.rows.length > 0 && (
        <ListTable of="/audit" rows={data.rows} keyOf={({ id }) => String(id)} />
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
      const answer = await get<Rows>(
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
        <FocusableButton isOff={progress !== null} onClick={() => void verify()}>
          Verify chain
        </FocusableButton>
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
