import type { FC } from 'react'
import { Page } from '../../parts/page.tsx'

export const TablePage: FC = () => <Page title="Load balancers">…</Page>
