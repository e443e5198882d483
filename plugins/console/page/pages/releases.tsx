import type { ReleaseEntry, ReleasesStatus } from '../../../../core/contract/release-status.js';
import { query, setQuery } from '../location.js';
import { formatTime } from '../ui/format-time.js';
import { ListTable, shortenDigest } from '../ui/list-table.js';
import {
  Card,
  Empty,
  PageHead,
  ReloadButton,
  ResourceState,
  State,
  useResource,
} from '../ui/parts.js';
import { useNow } from '../ui/ticks.js';

/** The interval of reads, because other callers publish releases. */
const REFRESH_MS = 3000;

export function ReleasesPage() {
  const resource = useResource<ReleasesStatus>('/releases', String(useNow(REFRESH_MS)));
  const { data } = resource;
  return (
    <>
      <PageHead title="Releases">
        <ReloadButton of={resource} />
      </PageHead>
      <ResourceState of={resource} />
      {data?.canary && <CanaryCard of={data.canary} />}
      {data && <Problems of={data} />}
      {data?.releases.length === 0 && (
        <Empty title="No releases">
          Publish a folder of descriptors with modgate publish. Hosts that are started with
          --modules store: serve it.
        </Empty>
      )}
      {data && data.releases.length > 0 && <ReleaseTable of={data} />}
      {data && data.releases.length > 1 && <DifferenceCard of={data} />}
    </>
  );
}

function ReleaseTable({ of: status }: { of: ReleasesStatus }) {
  return (
    <ListTable
      of="/releases"
      rows={status.releases}
      keyOf={({ release }) => release}
      cells={{
        verdict: (release) => <ReleaseState of={release} in={status} />,
        note: ({ note, verdict }) => [note, verdict?.reason].filter(Boolean).join(' · ') || '–',
      }}
    />
  );
}

function ReleaseState({
  of: { release, verdict },
  in: status,
}: {
  of: ReleaseEntry;
  in: ReleasesStatus;
}) {
  if (release === status.active) return <State value="active" tone="good" />;
  if (release === status.canary?.release) return <State value="canary" />;
  return verdict === null ? <>–</> : <State value={verdict.outcome} />;
}

function CanaryCard({ of: canary }: { of: NonNullable<ReleasesStatus['canary']> }) {
  const modules = Object.entries(canary.modules);
  return (
    <Card title="Canary">
      <p>
        <code>{shortenDigest(canary.release)}</code> is tried by {canary.hosts.join(', ')}, until{' '}
        {formatTime(canary.until)}.
      </p>
      <ul>
        {modules.map(([name, { calls, failed }]) => (
          <li key={name}>
            {name}: {calls} calls, {failed} failed
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Problems({ of: { hosts } }: { of: ReleasesStatus }) {
  const problems = hosts.filter(({ problem }) => problem !== null);
  if (problems.length === 0) return null;
  return (
    <Card title="Hosts that keep another release">
      <ul>
        {problems.map(({ host, problem }) => (
          <li key={host}>
            {host}: {problem}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/**
 * Shows the differences for clients between two releases, by default between the newest one and its
 * base.
 */
function DifferenceCard({ of: { releases } }: { of: ReleasesStatus }) {
  const [newest, second] = releases;
  const has = (release: string | null | undefined) => {
    return releases.some((entry) => entry.release === release) ? (release ?? '') : '';
  };
  const after = has(query.value.get('release')) || (newest?.release ?? '');
  const base = releases.find(({ release }) => release === after)?.base;
  const before = has(query.value.get('against')) || has(base) || (second?.release ?? '');
  const resource = useResource<{ difference: readonly string[] }>(
    `/releases/${after}?against=${before}`,
  );
  return (
    <Card title="Difference">
      <div class="row">
        <ReleaseSelect label="Release" name="release" value={after} of={releases} />
        <ReleaseSelect label="Against" name="against" value={before} of={releases} />
      </div>
      <ResourceState of={resource} />
      {resource.data && <pre>{resource.data.difference.join('\n')}</pre>}
    </Card>
  );
}

interface ReleaseSelectProps {
  label: string;
  name: 'release' | 'against';
  value: string;
  of: readonly ReleaseEntry[];
}

function ReleaseSelect({ label, name, value, of: releases }: ReleaseSelectProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {releases.map(({ release, note }) => (
          <option key={release} value={release}>
            {[shortenDigest(release), note].filter(Boolean).join(' ')}
          </option>
        ))}
      </select>
    </label>
  );
}
