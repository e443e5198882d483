import { formatJson } from '../exact-json.js';
import { Card, Loading, ProblemBox, useResource } from '../ui/parts.js';
import type { TabProps } from './tab-props.js';

export function ManifestTab({ module, manifest }: TabProps) {
  return (
    <Card title="Manifest">
      <p class="fine">
        Digest <code>{module.digest}</code>
      </p>
      <pre tabIndex={0}>{formatJson(manifest, 2)}</pre>
    </Card>
  );
}

export function DescriptorTab({ module }: Pick<TabProps, 'module'>) {
  const path = `/descriptors?module=${encodeURIComponent(module.name ?? '')}`;
  const { data, problem, isLoading, reload } = useResource<{ file: string; text: string }>(path);
  return (
    <Card title={data ? data.file : 'Descriptor'}>
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {isLoading && !data && <Loading />}
      {data && <pre tabIndex={0}>{data.text}</pre>}
    </Card>
  );
}
