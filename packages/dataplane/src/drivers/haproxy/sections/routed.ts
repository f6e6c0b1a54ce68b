/** Values of the map `backend` for a frontend with routes, and for one whose hosts must also be looked up by label. */
export const ROUTED = { named: 'routes', wildcards: 'routes-wildcards' } as const
