import type { FC } from 'react'
import { Page } from '../../parts/page.tsx'

export const CreatePage: FC = () => <Page title="Create load balancer">…</Page>
