import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiRequest } from '../../../docs/page/try-it.js';
import { API } from '../../paths.js';
import { modules, modulesProblem } from '../live.js';
import { query, setQuery } from '../location.js';
import { withChosen } from '../ui/modules.js';
import { PageHead, ReloadButton, ResourceState, useResource } from '../ui/parts.js';

/** With more modules, the page begins with a single one: the document of all may have 100 MB. */
const MAX_MODULES_AT_ONCE = 20;
/** A value that cannot be the name of a module. */
const ALL = '*';

/**
 * Shows the routes of a module or of all, with the renderer of the docs page, which is loaded only
 * here.
 */
export function ApiPage() {
  const names = modules.value?.flatMap(({ name, digest }) => (digest && name) || []) ?? [];
  const first = names.length > MAX_MODULES_AT_ONCE ? names[0] : ALL;
  const chosen = query.value.get('module') ?? first ?? ALL;
  const isListed = modules.value !== undefined || modulesProblem.value !== null;
  const resource = useResource<unknown>(isListed ? pathOf(chosen) : null);
  // The routes of another module would stand below the name of this one.
  const data = resource.isLoading ? undefined : resource.data;
  const [failure, setFailure] = useState<string | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.replaceChildren();
    if (data === undefined) return;
    let isShown = true;
    import('../../../docs/page/api-view.js').then(
      ({ createApiView }) => {
        if (isShown) place.current?.replaceChildren(createApiView(data, { send }));
      },
      (error: unknown) => setFailure(String(error)),
    );
    return () => {
      isShown = false;
    };
  }, [data]);
  return (
    <>
      <PageHead title="API">
        <label class="inline">
          Module
          <select
            value={chosen}
            onChange={(event) => setQuery({ module: event.currentTarget.value })}
          >
            <option value={ALL}>All modules</option>
            {withChosen(names, chosen === ALL ? '' : chosen).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <ReloadButton of={resource} />
      </PageHead>
      <ResourceState of={{ ...resource, data }} />
      {failure && <p class="problem">The page could not be loaded: {failure}</p>}
      <div class="api" ref={place} />
    </>
  );
}

function pathOf(module: string): string {
  return module === ALL ? '/openapi.json' : `/openapi.json?${new URLSearchParams({ module })}`;
}

/** Sends the request as the session's actor. */
function send({ method, target, headers, body, signal }: ApiRequest): Promise<Response> {
  return fetch(API + target, {
    method,
    headers: { ...headers },
    cache: 'no-store',
    redirect: 'error',
    ...(body !== null && { body }),
    ...(signal !== undefined && { signal }),
  });
}
