import { OWN } from '../../../client/cluster-names';
import { clusterHere, titleOf } from '../../engine/here';
import { Icon } from '../../frame/icons';
import { lazily } from '../../frame/Lazy';
import { Popover } from '../../frame/Popover';
import { words } from '../../words';
import { preparedName } from './cluster-name';

export const loadClusters = () => import('./ClusterList').then(({ ClusterList }) => ClusterList);
const ClusterList = lazily(loadClusters);

/** What the cluster of this tab is called; without a title, after what it was made from. */
export function clusterTitle(): string {
  const title = titleOf(clusterHere);
  if (title) return title;
  const prepared = preparedName.value;
  if (prepared) return words.cluster.prepared[prepared];
  return clusterHere === OWN ? words.cluster.own : clusterHere;
}

/** Whether that is the page's own word for it, and not what a visitor or a lesson has called it. */
function isOurs(): boolean {
  return !titleOf(clusterHere) && (preparedName.value !== null || clusterHere === OWN);
}

/** The cluster's name in the header; opened, all clusters and what can be done with them. */
export function ClusterMenu() {
  const title = clusterTitle();
  return (
    <Popover
      class="cluster-menu"
      button="cluster-button"
      label={words.cluster.label(title)}
      title={words.cluster.all}
      face={
        <>
          <Icon name="cluster" size={16} />
          <span class="cluster-name" translate={isOurs()}>
            {title}
          </span>
          <Icon name="down" size={14} />
        </>
      }
    >
      {() => <ClusterList />}
    </Popover>
  );
}
