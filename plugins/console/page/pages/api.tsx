import { useEffect, useRef, useState } from 'preact/hooks';
import { Loading, PageHead, ProblemBox, useResource } from '../ui/parts.js';

/** The routes of all modules, drawn by the renderer of the docs page, which is loaded here only. */
export function ApiPage() {
  const { data, problem, isLoading, reload } = useResource<unknown>('/openapi.json');
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
        <button type="button" onClick={reload}>
          Read again
        </button>
      </PageHead>
      {problem && <ProblemBox problem={problem} onRetry={reload} />}
      {failure && <p class="problem">The page could not be loaded: {failure}</p>}
      {isLoading && data === undefined && <Loading />}
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
  return fetch(`/console/api${target}`, {
    method,
    headers: { ...headers },
    cache: 'no-store',
    redirect: 'error',
    ...(body !== null && { body }),
  });
}
