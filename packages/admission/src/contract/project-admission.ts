import type { ApplicationCredential, ClassQuota, CustomRole, Project, Quota, QuotaResource, User } from '@spout/model'

/** Writes of projects, their quotas, and their users. */
export interface ProjectAdmission {
  /**
   * @param draft `id`: the one that the project has in another system; left out, it gets a new one
   * @throws SpoutError NameTaken, AlreadyExists
   */
  createProject(draft: Pick<Project, 'name' | 'description'> & Partial<Pick<Project, 'id'>>): Promise<Project>
  /**
   * Absent fields stay. Tokens of a project that is not enabled are void.
   * @throws SpoutError NameTaken; InUse for a domain that a name of its load balancers needs
   */
  changeProject(
    id: string,
    change: Partial<Pick<Project, 'name' | 'description' | 'enabled' | 'domains'>>,
  ): Promise<Project>
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
  /** Of the classes for which it has a limit or load balancers. */
  classQuotasOf(projectId: string): readonly ClassQuota[]
  /** A role that allows nothing here (see `customRole`). @throws SpoutError NameTaken */
  createCustomRole(draft: Pick<CustomRole, 'name' | 'description'>): Promise<CustomRole>
  /** Absent fields stay; its holders keep it. @throws SpoutError NameTaken */
  changeCustomRole(id: string, change: Partial<Pick<CustomRole, 'name' | 'description'>>): Promise<CustomRole>
  /** Also takes it from every user who has it. */
  deleteCustomRole(id: string): Promise<void>
  putUser(user: User): Promise<User>
  deleteUser(id: string): Promise<void>
  putApplicationCredential(credential: ApplicationCredential): Promise<void>
  deleteApplicationCredential(id: string): Promise<void>
}
