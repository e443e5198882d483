export interface EndpointBase {
  /** The origin as `URL` normalizes it: `https://crm.example`. */
  readonly origin: string;
  /** Empty, or a path without a trailing slash: `/api`. */
  readonly path: string;
}

export function parseEndpointBase(url: string): EndpointBase {
  const { origin, pathname } = new URL(url);
  return { origin, path: pathname.replace(/\/+$/, '') };
}
