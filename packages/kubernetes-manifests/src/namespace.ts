/** Namespace of all our objects in a cluster. */
export const NAMESPACE = 'spout'
