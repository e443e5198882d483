import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { explainDenied } from '../bridge.js';
import { formatJson } from '../exact-json.js';
import { modules } from '../live.js';
import { pathTo, query, setQuery } from '../location.js';
import { ActionForm } from '../module/action-form.js';
import { CandidateTab } from '../module/candidate.js';
import { ConfigTab } from '../module/config.js';
import { Contributions } from '../module/contributions.js';
import { DataTab } from '../module/data.js';
import { EndpointsTab } from '../module/endpoints.js';
import { GrantsTab } from '../module/grants.js';
import { RoutesTab } from '../module/routes.js';
import type { TabProps } from '../module/tab-props.js';
import type { Manifest, ModuleStatus, NamedManifest } from '../types.js';
import { ModulesState } from '../ui/modules.js';
import {
  Card,
  Empty,
  Loading,
  PageHead,
  ProblemBox,
  RelativeTime,
  ResourceState,
  State,
  useResource,
} from '../ui/parts.js';

const TABS: Readonly<Record<string, (props: TabProps) => JSX.Element>> = {
  Routes: RoutesTab,
  Endpoints: EndpointsTab,
  Candidate: CandidateTab,
  Data: DataTab,
  Actions: ActionsTab,
  Configuration: ConfigTab,
  Manifest: ManifestTab,
  Descriptor: DescriptorTab,
  Grants: GrantsTab,
};

export function ModulePage({ name }: { name: string }) {
  const module = modules.value?.find((one) => one.name === name);
  const { data, problem, isLoading, reload } = useResource<{ manifests: NamedManifest[] }>(
    module ? `/manifests?module=${encodeURIComponent(name)}` : null,
    module?.digest,
  );
  const manifest = data?.manifests.find((entry) => entry.name === name)?.manifest;
  return (
    <>
      <PageHead title={name}>{module && <State value={module.state} />}</PageHead>
      <ModulesState />
      {modules.value && !module && (
        <Empty title="There is no module of this name">
          It may have been removed from modules.d.
        </Empty>
      )}
      {module && <Summary module={module} manifest={manifest} />}
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {module && isLoading && !manifest && <Loading />}
      {module && !isLoading && !manifest && !problem && <Unserved module={module} />}
      {module && manifest && <Tabs module={module} manifest={manifest} />}
    </>
  );
}

function Summary({ module, manifest }: { module: ModuleStatus; manifest: Manifest | undefined }) {
  const { file, since, reason, hint, counts, owner, allow, identity, mounts = [] } = module;
  return (
    <>
      <p class="fine">
        {manifest?.summary && <>{manifest.summary} · </>}
        {manifest?.version && <>version {manifest.version} · </>}
        <code>{file}</code> · since <RelativeTime at={since} /> ·{' '}
        {counts.calls.toLocaleString('en')} calls, {counts.failed.toLocaleString('en')} failed,{' '}
        {counts.in_flight} in flight
        {Boolean(counts.streams) && <>, {counts.streams} open streams</>}
      </p>
      {owner && <OwnerLine owner={owner} />}
      {mounts.length > 0 && <MountLine mounts={mounts} />}
      {allow && <p class="fine">Open to these addresses only: {allow.addresses.join(', ')}</p>}
      {identity && <IdentityLine identity={identity} />}
      {reason && (
        <p class="note">
          {reason} {hint && <b>{hint}</b>}
        </p>
      )}
    </>
  );
}

function IdentityLine({ identity }: { identity: NonNullable<ModuleStatus['identity']> }) {
  const { scopes, shared } = identity;
  return (
    <>
      {scopes.length > 0 && (
        <p class="fine">
          The provider learns which of these scopes callers have: {scopes.join(', ')}
        </p>
      )}
      {shared.length > 0 && (
        <p class="note">Another module declares these, too: {shared.join(', ')}</p>
      )}
    </>
  );
}

function MountLine({ mounts }: { mounts: NonNullable<ModuleStatus['mounts']> }) {
  const addresses = mounts.map(({ host = '', path }) => host + path);
  return <p class="fine">Also at {addresses.join(', ')}</p>;
}

function OwnerLine({ owner }: { owner: NonNullable<ModuleStatus['owner']> }) {
  const { name, contact, docs } = owner;
  if (!name && !contact && !docs) return null;
  return (
    <p class="fine">
      Owner: {name}
      {contact && (
        <>
          {' '}
          <TextOrLink text={contact} />
        </>
      )}
      {docs && (
        <>
          {' '}
          · <TextOrLink text={docs} />
        </>
      )}
    </p>
  );
}

function TextOrLink({ text }: { text: string }) {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (protocol !== 'https:' && protocol !== 'mailto:') return <>{text}</>;
  return (
    <a href={text} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}

/** Shows the file even if it is invalid. */
function Unserved({ module }: { module: ModuleStatus }) {
  return (
    <>
      <Empty title="This module serves nothing yet">
        {module.state === 'waiting'
          ? 'Its routes, data and actions appear here once its manifest has been read.'
          : `Correct ${module.file}: the host follows as soon as the file is saved.`}
      </Empty>
      <DescriptorTab module={module} />
    </>
  );
}

function Tabs({ module, manifest }: TabProps) {
  const chosen = query.value.get('tab') ?? 'Routes';
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = tabs.current?.querySelector('[aria-current]');
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  const Tab = Object.hasOwn(TABS, chosen) ? TABS[chosen] : RoutesTab;
  return (
    <>
      <Contributions
        key={module.name}
        module={module}
        manifest={manifest}
        target={`${manifest.module_id}.actions`}
        context={{}}
      />
      <nav ref={tabs} class="tabs" aria-label="Parts of the module">
        {listTabs(module).map((tab) => (
          <a
            key={tab}
            href={`${pathTo('modules', module.name ?? '')}?tab=${tab}`}
            {...(tab === chosen && { 'aria-current': 'true' })}
          >
            {tab}
          </a>
        ))}
      </nav>
      {Tab && <Tab key={`${module.name} ${chosen}`} module={module} manifest={manifest} />}
    </>
  );
}

/** Omits the tab of candidates for most modules. */
function listTabs({ candidate }: ModuleStatus): readonly string[] {
  const hasCandidate = candidate !== undefined;
  return Object.keys(TABS).filter((tab) => hasCandidate || TABS[tab] !== CandidateTab);
}

function ManifestTab({ module, manifest }: TabProps) {
  return (
    <Card title="Manifest">
      <p class="fine">
        Digest <code>{module.digest}</code>
      </p>
      <pre tabIndex={0}>{formatJson(manifest, 2)}</pre>
    </Card>
  );
}

function DescriptorTab({ module }: Pick<TabProps, 'module'>) {
  const path = `/descriptors?module=${encodeURIComponent(module.name ?? '')}`;
  const resource = useResource<{ file: string; text: string }>(path);
  const { data } = resource;
  return (
    <Card title={data ? data.file : 'Descriptor'}>
      <ResourceState of={resource} />
      {data && <pre tabIndex={0}>{data.text}</pre>}
    </Card>
  );
}

function ActionsTab({ module, manifest }: TabProps) {
  const actions = manifest.admin?.actions ?? [];
  const chosen = query.value.get('action');
  /** The action whose button gets the focus that its form had. */
  const closed = useRef<string | null>(null);
  if (actions.length === 0)
    return <Empty title="No actions">The manifest of this module declares none.</Empty>;
  return (
    <div class="grid">
      {actions.map((action) => {
        const denied = explainDenied(module, action.capability);
        const isOpen = action.name === chosen;
        return (
          <Card
            key={action.name}
            title={action.label ?? action.name}
            tools={action.danger_level && <State value={`${action.danger_level} danger`} />}
          >
            {action.description && <p class="fine">{action.description}</p>}
            {denied && <p class="fine">Not available: {denied}.</p>}
            {isOpen && !denied ? (
              <ActionForm
                module={module}
                action={action}
                onClose={() => {
                  closed.current = action.name;
                  setQuery({ action: null });
                }}
              />
            ) : (
              <div class="row">
                <button
                  type="button"
                  ref={(button) => {
                    if (button === null || closed.current !== action.name) return;
                    closed.current = null;
                    button.focus();
                  }}
                  disabled={denied !== null}
                  onClick={() => setQuery({ action: action.name })}
                >
                  Open
                  <span class="hidden"> {action.label ?? action.name}</span>
                </button>
              </div>
            )}
          </Card>
        );
      })}
    </div>
  );
}
