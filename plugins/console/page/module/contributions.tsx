import { useEffect, useRef, useState } from 'preact/hooks';
import { callBridge, explainDenied } from '../bridge.js';
import { formatJson } from '../exact-json.js';
import { modules } from '../live.js';
import type { Manifest, ModuleStatus, NamedManifest, Problem } from '../types.js';
import { ProblemBox, ResourceState, useResource } from '../ui/parts.js';
import { ActionForm } from './action-form.js';

interface Contribution {
  readonly key: string;
  readonly label: string;
  /** The configured name. */
  readonly moduleName: string;
  readonly actionName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface ContributionsProps {
  readonly module: ModuleStatus;
  readonly manifest: Manifest;
  /** The slot. */
  readonly target: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly onDone?: () => void;
  /** Whether an empty slot shows a message. */
  readonly showsNone?: boolean;
}

/** Shows the contributions to a slot: a button for each, which opens its action. */
export function Contributions({
  module,
  manifest,
  target,
  context,
  onDone,
  showsNone = false,
}: ContributionsProps) {
  const permission = manifest.capabilities.find(
    (capability) => explainDenied(module, capability) === null,
  );
  const [contributions, setContributions] = useState<readonly Contribution[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [opened, setOpened] = useState<Contribution | null>(null);
  const key = formatJson(context);
  useEffect(() => {
    if (permission === undefined) return;
    const abort = new AbortController();
    setOpened(null);
    callBridge<{ data: Contribution[] }>(
      module,
      permission,
      { operation: 'contributions_resolve', target, context },
      abort.signal,
    ).then(
      (answer) => {
        setContributions(answer.ok ? answer.data.data : null);
        setProblem(answer.ok ? null : answer.problem);
      },
      () => {},
    );
    return () => abort.abort();
  }, [module.digest, permission, target, key]);
  const opener = useRef<HTMLButtonElement | null>(null);
  const close = () => {
    setOpened(null);
    opener.current?.focus();
  };
  if (problem) return <ProblemBox problem={problem} />;
  if (contributions === null || contributions.length === 0)
    return showsNone ? (
      <p class="fine">No module contributes an action for rows of this table.</p>
    ) : null;
  return (
    <>
      <div class="row">
        {contributions.map((contribution) => (
          <button
            key={contribution.key}
            type="button"
            aria-pressed={contribution === opened}
            onClick={(event) => {
              opener.current = event.currentTarget;
              setOpened(contribution === opened ? null : contribution);
            }}
          >
            {contribution.label}
          </button>
        ))}
      </div>
      {opened && (
        <div class="card">
          <Opened key={opened.key} contribution={opened} onClose={close} onDone={onDone} />
        </div>
      )}
    </>
  );
}

/** The action may belong to another module. */
function Opened({
  contribution,
  onClose,
  onDone,
}: {
  contribution: Contribution;
  onClose: () => void;
  onDone: (() => void) | undefined;
}) {
  const { moduleName, actionName } = contribution;
  const resource = useResource<{ manifests: NamedManifest[] }>(
    `/manifests?module=${encodeURIComponent(moduleName)}`,
  );
  // Another module may have this name as its `module_id`.
  const module = modules.value?.find(({ name }) => name === moduleName);
  const actions = resource.data?.manifests[0]?.manifest.admin?.actions;
  const action = actions?.find(({ name }) => name === actionName);
  if (!resource.data) return <ResourceState of={resource} />;
  if (!module || !action) return <p class="fine">Not available: the module does not serve it.</p>;
  const denied = explainDenied(module, action.capability);
  if (denied) return <p class="fine">Not available: {denied}.</p>;
  return (
    <ActionForm
      module={module}
      action={action}
      input={contribution.input}
      onClose={onClose}
      onDone={onDone}
    />
  );
}
