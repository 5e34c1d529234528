package atlas_test

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast/cmd/vast/earth/atlas"
)

func Example() {
	m := atlas.New(64, 18)
	width, height := m.Dots()
	density := make([]uint32, width*height)
	// Put a thousand people on every dot of a rectangle in Africa.
	for lat := -10.0; lat < 20; lat++ {
		for lon := 15.0; lon < 35; lon++ {
			density[m.Dot(lat, lon)] = 1000
		}
	}
	grid := m.Draw(density, nil, atlas.Style{NoColor: true})
	for line := range strings.Lines(grid.String()) {
		fmt.Println(strings.TrimRight(line, " \n"))
	}
	// Output:
	// ⢀⢔⢔⢕⢕⢕⢕⢕⢔⠑⠑⠕⠄     ⢀⠕     ⠑⠑⠁    ⢀⠔⠔⢀ ⢀⠄⠄⠕⠑⢐⢄⢀⢀ ⢄⢄⠄
	// ⢅⢄⢔⠅⠁⠑⠐⠐⠐⠑⠑⠑⠔⠕⠕⠕⢕⠔⢔⢕⢄⠄⢕ ⢀⢀⠄⢕⢁⢀    ⠔⢐⢁⠑⢄⢔⠄⠕⠕⠐⢕⠅⠁        ⠁⠁  ⠁⠑⠐⠐⢐
	//  ⠁⠕⢅⢄⠔⠄⢄       ⢄⠁⠑⠕⢑⢅  ⠐⠄   ⠁⠁⢀⢀⠐⢀⢀⢔⠄⠄⠁⠁                ⢀⠄⢄⢔⢔⠄⠔⠐
	//   ⠐⠁⠁   ⠕⢄      ⠁⢑⠅ ⢀⢑⠄       ⢔⢕⠄⠑⠑⠐                    ⢑⢄ ⢐⠔
	//          ⢐⠁        ⢐⠕⠅⠑       ⢀⢑⢀⢄⢄ ⢀⢔⠔ ⢔⢄             ⢀⢔⢕
	//           ⢄       ⢔⠁          ⢅⢔⠅⢕⠕⠑⢕⢅⠄⠁⠐⠕          ⠐⠕⢕⢅⢔⠅
	//            ⢕⢄ ⢀⠄⠔⢔⠁          ⢀⠅   ⠑⠐⠑⢐⠅ ⢐⢄           ⢑ ⠁⠁
	//     ⠄       ⠑⢄⢐⢀⠄⠕⢅⢀         ⠅    ⢀⣀⣀⣀⣑  ⠑⠕⠑⢄  ⠄⢄ ⢀⢄⠔⠕
	//               ⠑⠁⢕⠄⢁⢁⠁       ⠐⠅    ⢸⣿⣿⣿⡗⢕⢄⠐⠁  ⠅⠔ ⠐⢅ ⠅ ⢕⠄
	//                  ⠑⠅⠁⠁⠑⢄      ⠑⢄⢀⢄⢀⢸⣿⣿⣿⡇ ⠑⠁   ⠐⠕ ⢀⢔⠕⠁⢐⠕⠅
	//                  ⢐⠁   ⠐⠅⢄        ⢐⢸⣿⣿⣿⡇⠔⠁        ⠑⢕⢅⢑⢔⢑⢔⠄⢀⢀
	//                  ⠐⠄      ⠑        ⠽⠿⠿⠿⠗⠅          ⠑⠑⠔⢕⠄⢐⠕⠔⢕⠑⢄
	// ⠄                 ⠑⠄    ⢀⠅        ⠅    ⢅⢔            ⢀⠔⠁⠅⢕   ⠐ ⢀
	//                    ⠔    ⠐         ⢑  ⢀⠅⠐⠔           ⠄⠁    ⠑⠄ ⠑
	//                    ⠅ ⢀⢐⠁           ⢄⢀⠔              ⢁⢀⠄⢄⢄ ⢀⠅  ⢀
	//                   ⢐⠁⢐⠔                                  ⠑⢐⠔   ⢀⠕
	//                   ⢐⢑⠅                       ⢀             ⠁  ⠐⠅
	//                   ⠐⠔⠄⠁
}
