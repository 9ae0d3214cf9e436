package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardBuildCmd() *cobra.Command {
	var c boardrun.Command
	var out, format string
	cmd := &cobra.Command{
		Use:   "build board...",
		Short: "Build firmware, and show what it needs of flash and RAM",
		Long: `Build compiles the firmware of boards, one image for each implementation, and
prints which package needs how much flash and RAM, and how much of the board is
left. What is larger than the board is an error, with the same table: fewer --parts
need less. --parts conform means all parts of that name, conform/actor those of actors.
Without --impl such an image does not make the command fail, unless all are too big.

--out keeps the images in a folder, as <board>-<implementation>.elf.`,
		Example: `  benchrun board build cortex-m3-qemu --impl serial --parts bench
  benchrun board build cortex-m3-qemu --parts bench --format json
  benchrun board build pico --parts bench --out images`,
		Args: needBoard(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--format", format, []string{"text", "json"}); err != nil {
				return err
			}
			return onBoards(cmd, &c, args, func() error {
				return c.Build(cmd.Context(), boardrun.BuildOptions{Out: out, JSON: format == "json"})
			})
		},
	}
	imageFlags(cmd, &c, true)
	cmd.Flags().StringVar(&out, "out", "", "keep the images in this `folder`")
	_ = cmd.MarkFlagDirname("out")
	boardFormatFlag(cmd, &format)
	return cmd
}
