/**
 * Whether load balancers of this project may use the class.
 * @param offered a `LoadBalancerClass`, or what is known of one
 */
export const mayUseClass = (
  { projectIds }: { readonly projectIds?: readonly string[] | undefined },
  projectId: string | null,
): boolean => projectIds === undefined || (projectId !== null && projectIds.includes(projectId))
