/** Where everything of ours is in a cluster, access and programs alike. */
export const NAMESPACE = 'spout'
