import type { ApplicationCredential, ClassQuota, CustomRole, Project, Quota, QuotaResource, User } from '@spout/model'

/** Writes of projects, their quotas, and their users. */
export interface ProjectAdmission {
  /**
   * @param draft with the id that the project has elsewhere; without one it gets a new one
   * @throws SpoutError NameTaken, AlreadyExists
   */
  createProject(draft: Pick<Project, 'name' | 'description'> & Partial<Pick<Project, 'id'>>): Promise<Project>
  /** Refused while it owns anything. */
  deleteProject(id: string): Promise<void>
  /**
   * @param classes most load balancers of each of these classes, by its id; null takes a limit away
   * @throws SpoutError ReferenceNotFound
   */
  setQuota(
    projectId: string,
    limits: Partial<Record<QuotaResource, number>>,
    classes?: Readonly<Record<string, number | null>>,
  ): Promise<Quota>
  quotaOf(projectId: string): {
    readonly limits: Readonly<Record<QuotaResource, number>>
    readonly used: Readonly<Record<QuotaResource, number>>
  }
  /** Of classes that it has a limit of, or load balancers. */
  classQuotasOf(projectId: string): readonly ClassQuota[]
  /** A role that nothing depends on. @throws SpoutError NameTaken */
  createCustomRole(draft: Pick<CustomRole, 'name' | 'description'>): Promise<CustomRole>
  /** Takes it from everybody who has it, too. */
  deleteCustomRole(id: string): Promise<void>
  putUser(user: User): Promise<User>
  deleteUser(id: string): Promise<void>
  putApplicationCredential(credential: ApplicationCredential): Promise<void>
  deleteApplicationCredential(id: string): Promise<void>
}
