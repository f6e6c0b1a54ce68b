import type { ApplicationCredential, Project, Quota, QuotaResource, User } from '@spout/model'

/** Writes of projects, their quotas, and their users. */
export interface ProjectAdmission {
  createProject(draft: Pick<Project, 'name' | 'description'>): Promise<Project>
  /** Refused while it owns anything. */
  deleteProject(id: string): Promise<void>
  setQuota(projectId: string, limits: Partial<Record<QuotaResource, number>>): Promise<Quota>
  quotaOf(projectId: string): {
    readonly limits: Readonly<Record<QuotaResource, number>>
    readonly used: Readonly<Record<QuotaResource, number>>
  }
  putUser(user: User): Promise<User>
  deleteUser(id: string): Promise<void>
  putApplicationCredential(credential: ApplicationCredential): Promise<void>
  deleteApplicationCredential(id: string): Promise<void>
}
