import { formatJson } from '../exact-json.js';
import { Arrival, Card, useResource } from '../ui/parts.js';
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
  const resource = useResource<{ file: string; text: string }>(path);
  const { data } = resource;
  return (
    <Card title={data ? data.file : 'Descriptor'}>
      <Arrival of={resource} />
      {data && <pre tabIndex={0}>{data.text}</pre>}
    </Card>
  );
}
