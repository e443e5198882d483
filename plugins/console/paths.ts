/** The pages. */
export const CONSOLE = '/console';
export const API = `${CONSOLE}/api`;
export const OIDC = `${API}/oidc`;
/** Where issuers send people back. */
export const OIDC_CALLBACK = `${OIDC}/callback`;
