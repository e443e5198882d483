export const CONSOLE = '/console';
export const API = `${CONSOLE}/api`;
export const OIDC = `${API}/oidc`;
/** The callback of issuers. */
export const OIDC_CALLBACK = `${OIDC}/callback`;
