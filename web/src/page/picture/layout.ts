import type { Picture, PicturePod } from './model';

/** Where everything in the picture stands, in pixels from its upper left corner. */
export interface Placed {
  readonly height: number;
  readonly owners: ReadonlyMap<string, Box>;
  readonly lanes: readonly Box[];
  readonly pods: ReadonlyMap<string, Box>;
  readonly services: ReadonlyMap<string, Box>;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const OWNER_HEIGHT = 44;
export const LANE_HEAD = 26;
const GAP = 8;
const PAD = 10;

export interface PodSize {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}

/** With its name while there are few, a square with its containers then, and a dense grid for hundreds. */
export function podSize(count: number, room: number): PodSize {
  if (count <= 16 && room >= 120) {
    const perRow = Math.max(Math.floor(room / 140), 1);
    return { width: Math.floor((room - (perRow - 1) * 6) / perRow), height: 30, gap: 6 };
  }
  if (count <= 60) return { width: 30, height: 30, gap: 7 };
  if (count <= 140) return { width: 20, height: 20, gap: 5 };
  if (count <= 400) return { width: 13, height: 13, gap: 3 };
  return { width: 9, height: 9, gap: 2 };
}

/**
 * Owners in a column on the left, nodes as lanes in the middle, Services on the right; on a narrow place the columns
 * give way to the lanes.
 */
export function place(picture: Picture, width: number): Placed {
  const narrow = width < 480;
  const side = narrow ? 96 : Math.min(190, width * 0.27);
  const middle = Math.max(width - 2 * side - 4 * GAP, 90);
  const size = podSize(picture.podCount, middle - 2 * PAD);

  const lanes: Box[] = [];
  const pods = new Map<string, Box>();
  let y = 0;
  for (const lane of picture.lanes) {
    const x = side + 2 * GAP;
    const perRow = Math.max(Math.floor((middle - 2 * PAD + size.gap) / (size.width + size.gap)), 1);
    const rows = Math.max(Math.ceil(lane.pods.length / perRow), 1);
    const height = LANE_HEAD + rows * (size.height + size.gap) - size.gap + PAD;
    lane.pods.forEach((pod: PicturePod, i) => {
      pods.set(pod.uid, {
        x: x + PAD + (i % perRow) * (size.width + size.gap),
        y: y + LANE_HEAD + Math.floor(i / perRow) * (size.height + size.gap),
        width: size.width,
        height: size.height,
      });
    });
    lanes.push({ x, y, width: middle, height });
    y += height + GAP;
  }

  const owners = column(picture.owners, 0, side);
  const services = column(picture.services, side + middle + 4 * GAP, side);
  const lowest = Math.max(
    y,
    picture.owners.length * (OWNER_HEIGHT + GAP),
    picture.services.length * (OWNER_HEIGHT + GAP),
  );
  return { height: lowest, owners, lanes, pods, services };
}

function column(list: readonly { readonly uid: string }[], x: number, width: number) {
  return new Map<string, Box>(
    list.map(({ uid }, i) => [
      uid,
      { x, y: i * (OWNER_HEIGHT + GAP), width, height: OWNER_HEIGHT },
    ]),
  );
}
