import { useEffect, useRef, useState } from 'preact/hooks';
import { API } from '../../paths.js';
import { Arrival, PageHead, ReloadButton, useResource } from '../ui/parts.js';

/** The routes of all modules, drawn by the renderer of the docs page, which is loaded here only. */
export function ApiPage() {
  const resource = useResource<unknown>('/openapi.json');
  const { data } = resource;
  const [failure, setFailure] = useState<string | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (data === undefined) return;
    import('../../../docs/page/api-view.js').then(
      ({ createApiView }) => place.current?.replaceChildren(createApiView(data, send)),
      (error: unknown) => setFailure(String(error)),
    );
  }, [data]);
  return (
    <>
      <PageHead title="API">
        <ReloadButton of={resource} />
      </PageHead>
      <Arrival of={resource} />
      {failure && <p class="problem">The page could not be loaded: {failure}</p>}
      <div class="api" ref={place} />
    </>
  );
}

interface ApiRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** As the session's actor. */
function send({ method, target, headers, body }: ApiRequest): Promise<Response> {
  return fetch(API + target, {
    method,
    headers: { ...headers },
    cache: 'no-store',
    redirect: 'error',
    ...(body !== null && { body }),
  });
}
