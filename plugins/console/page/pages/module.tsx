import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { modules } from '../live.js';
import { pathTo, query } from '../location.js';
import type { Manifest, NamedManifest } from '../manifest.js';
import { ActionsTab } from '../module/actions.js';
import { ConfigTab } from '../module/config.js';
import { Contributions } from '../module/contributions.js';
import { DataTab } from '../module/data.js';
import { DescriptorTab, ManifestTab } from '../module/documents.js';
import { EndpointsTab } from '../module/endpoints.js';
import { GrantsTab } from '../module/grants.js';
import { RoutesTab } from '../module/routes.js';
import type { TabProps } from '../module/tab-props.js';
import type { ModuleStatus } from '../types.js';
import { ModulesArrival } from '../ui/modules.js';
import { Empty, Loading, Moment, PageHead, ProblemBox, State, useResource } from '../ui/parts.js';

const TABS: Readonly<Record<string, (props: TabProps) => JSX.Element>> = {
  Routes: RoutesTab,
  Endpoints: EndpointsTab,
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
    module ? '/manifests' : null,
    module?.digest,
  );
  const manifest = data?.manifests.find((one) => one.name === name)?.manifest;
  return (
    <>
      <PageHead title={name}>{module && <State value={module.state} />}</PageHead>
      <ModulesArrival />
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
  const { file, since, reason, hint, counts } = module;
  return (
    <>
      <p class="fine">
        {manifest?.summary && <>{manifest.summary} · </>}
        {manifest?.version && <>version {manifest.version} · </>}
        <code>{file}</code> · since <Moment at={since} /> · {counts.calls.toLocaleString('en')}{' '}
        calls, {counts.failed.toLocaleString('en')} failed, {counts.in_flight} in flight
      </p>
      {reason && (
        <p class="note">
          {reason} {hint && <b>{hint}</b>}
        </p>
      )}
    </>
  );
}

/** Its file can be shown even if it is not valid. */
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
        module={module}
        manifest={manifest}
        target={`${manifest.module_id}.actions`}
        context={{}}
      />
      <nav ref={tabs} class="tabs" aria-label="Parts of the module">
        {Object.keys(TABS).map((tab) => (
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
