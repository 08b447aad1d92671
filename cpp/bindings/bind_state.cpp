// Action, ActionList, GameState, Feature, Figure, Tile.
#include "bindings.hpp"
#include "carc/core/error.hpp"
#include "carc/core/features.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/state_json.hpp"

namespace carc::python {

struct PyTile {
  std::string id;
  int x, y, rotation;
};

namespace {

constexpr std::array<const char*, 3> kActionKinds = {"draw", "place", "figure"};
constexpr std::array<const char*, 4> kFigureActions = {"none", "meeple", "abbot", "back"};

template <class Get>
auto per_player(const PyState& self, Get get) {
  IntList out;
  for (int p = 0; p < self.state.players(); ++p) out.append(get(self.state, p));
  return out;
}

const char* figure_name(FigureKind kind) { return kind == FigureKind::kAbbot ? "abbot" : "meeple"; }

py::typing::Dict<py::str, py::object> state_dict(const PyState& self) {
  return from_json_value(Json::parse(state_to_json(self.state)));
}

PyTile make_tile(const GameState& state, int i) {
  const LaidTile t = state.laid_tile(i);
  return {state.game().tile(t.type).id, t.cell.x, t.cell.y, t.rotation};
}

std::optional<std::string> drawn_tile(const PyState& self) {
  if (self.state.drawn_tile() < 0) return std::nullopt;
  return self.game->tile(static_cast<TypeId>(self.state.drawn_tile())).id;
}

TypeId named_type(const PyState& self, const std::string& id) { return self.game->require<Error>(id).type; }

std::shared_ptr<ActionList> legal_actions(const PyState& self) {
  auto list = std::make_shared<ActionList>();
  self.state.legal_actions(*list);
  return list;
}

using PickledBits = Pickled<Whole<std::uint32_t, "pickle">>;
using FeatureIndex = Whole<int, "feature", 0, kMaxFeatures - 1, IllegalAction>;
using PlacedAt = Whole<int, "coordinate", -128, 127, IllegalAction>;
using Turned = Whole<int, "rotation", 0, 3, IllegalAction>;

PyState state_from_text(const std::string& text) {
  const LoadedState loaded = state_from_json(text);
  return {loaded.game, loaded.state};
}

py::list as_list(const ActionList& actions) {
  py::list out;
  for (const Action action : actions) out.append(action);
  return out;
}

std::string action_repr(Action a) {
  std::string out = std::string("<Action ") +
                    (static_cast<int>(a.what()) < 3 ? kActionKinds[static_cast<std::size_t>(a.what())] : "?");
  const std::string cell = std::to_string(a.cell().x) + "," + std::to_string(a.cell().y);
  switch (a.what()) {
    case Action::What::kDraw:
      out += " type " + std::to_string(a.type());
      break;
    case Action::What::kPlace:
      out += " " + cell + " r" + std::to_string(a.rotation());
      break;
    default:
      out += std::string(" ") + kFigureActions[static_cast<std::size_t>(a.figure())];
      if (a.figure() == Action::Figure::kBack)
        out += " " + cell;
      else if (a.figure() != Action::Figure::kNone)
        out += " feature " + std::to_string(a.feature());
  }
  return out + ">";
}

void bind_parts(py::module_& m) {
  py::class_<PyTile>(m, "Tile", "A tile on the board.")
      .def_readonly("id", &PyTile::id)
      .def_readonly("x", &PyTile::x)
      .def_readonly("y", &PyTile::y)
      .def_readonly("rotation", &PyTile::rotation, "Quarter turns clockwise from the reference drawing.")
      .def("__repr__", [](const PyTile& t) {
        return "<Tile " + t.id + "@" + std::to_string(t.x) + "," + std::to_string(t.y) + "r" +
               std::to_string(t.rotation) + ">";
      });
  py::class_<Figure>(m, "Figure", "A figure on the board.")
      .def_readonly("tile", &Figure::tile, "Index in GameState.tiles.")
      .def_readonly("feature", &Figure::feature, "Index in the tile's feature list.")
      .def_readonly("player", &Figure::player)
      .def_property_readonly(
          "figure", [](const Figure& f) { return figure_name(f.figure); }, "meeple or abbot.")
      .def_property_readonly(
          "kind", [](const Figure& f) { return kFeatureKindNames[static_cast<std::size_t>(f.kind)]; },
          "Kind of the feature.")
      .def("__repr__", [](const Figure& f) {
        return std::string("<") + figure_name(f.figure) + " of player " + std::to_string(f.player) + " on tile " +
               std::to_string(f.tile) + " " + kFeatureKindNames[static_cast<std::size_t>(f.kind)] + ">";
      });
  py::class_<Feature>(m, "Feature", "A road, city, monastery, garden, field or river on the board.")
      .def_property_readonly("kind",
                             [](const Feature& f) { return kFeatureKindNames[static_cast<std::size_t>(f.kind)]; })
      .def_property_readonly(
          "segments",
          [](const Feature& f) {
            py::typing::List<py::typing::Tuple<int, int>> out;
            for (const Segment& s : f.segments) out.append(py::make_tuple(s.tile, s.feature));
            return out;
          },
          "(index in GameState.tiles, index in the tile's feature list) of every part.")
      .def_readonly("tiles", &Feature::tiles, "Number of different tiles.")
      .def_readonly("shields", &Feature::shields)
      .def_readonly("open", &Feature::open,
                    "Open edges; for monasteries and gardens the missing neighbours; 0 for fields.")
      .def_readonly("is_complete", &Feature::is_complete)
      .def_readonly("figures", &Feature::figures)
      .def_readonly("cities", &Feature::cities,
                    "For a field: indices in GameState.features() of the cities that it touches.")
      .def_readonly("value", &Feature::value,
                    "Points for its majority if the game ended now; for a field 3 a completed city.")
      .def("__repr__", [](const Feature& f) {
        return std::string("<") + kFeatureKindNames[static_cast<std::size_t>(f.kind)] + " of " +
               std::to_string(f.tiles) + " tiles, " + (f.is_complete ? "complete" : std::to_string(f.open) + " open") +
               ", " + std::to_string(f.figures.size()) + " figures>";
      });
}

}  // namespace

void bind_actions(py::module_& m) {
  py::class_<Action>(m, "Action", "One decision: a drawn tile, a placement, or what is done with a figure.")
      .def_static(
          "place",
          [](PlacedAt x, PlacedAt y, Turned rotation) {
            return Action::place(cell_key({static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)}),
                                 static_cast<unsigned>(rotation));
          },
          py::arg("x"), py::arg("y"), py::arg("rotation"), "Lay the drawn tile; rotation in quarter turns clockwise.")
      .def_static("no_figure", &Action::no_figure, "Do nothing with a figure.")
      .def_static(
          "meeple", [](FeatureIndex f) { return Action::meeple(static_cast<unsigned>(f)); }, py::arg("feature"),
          "Set a meeple on the feature with this index in the tile's list.")
      .def_static(
          "abbot", [](FeatureIndex f) { return Action::abbot(static_cast<unsigned>(f)); }, py::arg("feature"),
          "Set the abbot.")
      .def_static(
          "from_int", [](Whole<std::uint32_t, "bits"> bits) { return Action::from_bits(bits); }, py::arg("bits"))
      .def_property_readonly(
          "kind",
          [](Action a) {
            return static_cast<int>(a.what()) < 3 ? kActionKinds[static_cast<std::size_t>(a.what())] : "?";
          },
          "draw, place or figure.")
      .def_property_readonly(
          "x", [](Action a) { return a.cell().x; }, "Column of a placement or of the figure taken back.")
      .def_property_readonly("y", [](Action a) { return a.cell().y; })
      .def_property_readonly("rotation", &Action::rotation, "Quarter turns clockwise of a placement.")
      .def_property_readonly(
          "figure", [](Action a) { return kFigureActions[static_cast<std::size_t>(a.figure())]; },
          "none, meeple, abbot or back.")
      .def_property_readonly("feature", &Action::feature, "Index of the feature in the tile's list.")
      .def("__int__", &Action::bits)
      .def("__hash__", &Action::bits)
      .def(
          "__eq__", [](Action a, Action b) { return a == b; }, py::is_operator())
      .def(
          "__eq__", [](Action, const py::object&) { return false; }, py::is_operator())
      .def("__repr__", &action_repr)
      .def(py::pickle([](Action a) { return PickledBits{{a.bits()}}; },
                      [](const PickledBits& pickled) { return Action::from_bits(pickled.item); }));

  py::class_<ActionList, std::shared_ptr<ActionList>>(m, "ActionList",
                                                      "Legal actions in their fixed order: a sequence.")
      .def("__len__", &ActionList::size)
      .def(
          "__getitem__",
          [](const ActionList& self, py::ssize_t i) {
            const py::ssize_t index = i < 0 ? i + self.size() : i;
            if (index < 0 || index >= self.size())
              throw py::index_error("found index " + std::to_string(i) + ", expected less than " +
                                    std::to_string(self.size()));
            return self[static_cast<int>(index)];
          },
          py::arg("index"))
      .def(
          "__getitem__",
          [](const ActionList& self, const py::slice& slice) -> py::typing::List<Action> {
            return as_list(self)[slice];
          },
          py::arg("index"), "The actions of a slice, as a list.")
      .def("__iter__", [](const ActionList& self) -> py::typing::Iterator<Action> { return py::iter(as_list(self)); })
      .def("__contains__",
           [](const ActionList& self, Action a) { return std::find(self.begin(), self.end(), a) != self.end(); })
      .def("__contains__", [](const ActionList&, const py::object&) { return false; })
      .def("__repr__", [](const ActionList& self) { return "<" + std::to_string(self.size()) + " actions>"; });
}

void bind_state(py::module_& m) {
  bind_parts(m);
  auto state = py::class_<PyState>(m.attr("GameState"));
  state.def_property_readonly("rules", [](const PyState& self) { return PyRules{self.game}; })
      .def_property_readonly(
          "phase", [](const PyState& self) { return kPhaseNames[static_cast<std::size_t>(self.state.phase())]; },
          "draw, place, figure or over.")
      .def(
          "current_player", [](const PyState& self) { return static_cast<int>(self.state.current_player()); },
          "Who decides; -1 while a tile is drawn, -4 at the end.")
      .def_property_readonly(
          "turn_player", [](const PyState& self) { return self.state.turn_player(); },
          "Whose turn it is, also while a tile is drawn.")
      .def("is_terminal", [](const PyState& self) { return self.state.is_terminal(); })
      .def("is_chance_node", [](const PyState& self) { return self.state.is_chance_node(); })
      .def(
          "chance_outcomes",
          [](const PyState& self) {
            py::typing::List<py::typing::Tuple<Action, float>> out;
            for (const ChanceOutcome& o : self.state.chance_outcomes())
              out.append(py::make_tuple(Action::draw(o.tile), o.probability));
            return out;
          },
          "(draw action, probability) of every tile that can come; empty unless a tile is to be drawn.")
      .def(
          "returns",
          [](const PyState& self) {
            py::typing::List<float> out;
            for (int p = 0; p < self.state.players(); ++p)
              out.append(self.state.returns()[static_cast<std::size_t>(p)]);
            return out;
          },
          "Score minus the mean of the others' scores, by player; zeros before the end.")
      .def_property_readonly(
          "winners",
          [](const PyState& self) {
            IntList out;
            for (int p = 0; p < self.state.players(); ++p) {
              if (self.state.leaders() >> p & 1) out.append(p);
            }
            return out;
          },
          "Players with most points (all of them share a win at the end).")
      .def_property_readonly(
          "scores",
          [](const PyState& self) { return per_player(self, [](const GameState& s, int p) { return s.score(p); }); },
          "Points by player.")
      .def_property_readonly(
          "points", [](const PyState& self) { return points_dict(self.state.points(), self.state.players()); },
          "Points by feature kind and player.")
      .def_property_readonly(
          "final_count",
          [](const PyState& self) { return points_dict(self.state.final_count(), self.state.players()); },
          "The part of `points` paid after the last turn.")
      .def(
          "projected", [](const PyState& self) { return points_dict(self.state.projected(), self.state.players()); },
          "What would be paid in addition if the game ended now, by feature kind and player.")
      .def_property_readonly(
          "meeples",
          [](const PyState& self) { return per_player(self, [](const GameState& s, int p) { return s.meeples(p); }); },
          "Meeples in hand by player.")
      .def_property_readonly(
          "abbots",
          [](const PyState& self) { return per_player(self, [](const GameState& s, int p) { return s.abbots(p); }); },
          "Abbots in hand by player.")
      .def_property_readonly("drawn_tile", &drawn_tile, "Id of the tile in hand, or None.")
      .def_property_readonly("tiles_left", [](const PyState& self) { return self.state.tiles_left(); })
      .def_property_readonly(
          "bag",
          [](const PyState& self) {
            py::typing::Dict<py::str, py::int_> out;
            for (int t = 0; t < self.game->types(); ++t) {
              if (const int n = self.state.tiles_left(static_cast<TypeId>(t)))
                out[py::str(self.game->tile(static_cast<TypeId>(t)).id)] = n;
            }
            return out;
          },
          "Copies of each tile still to draw.")
      .def_property_readonly(
          "discarded",
          [](const PyState& self) {
            py::typing::List<py::str> out;
            for (int i = 0; i < self.state.discarded_tiles(); ++i)
              out.append(self.game->tile(self.state.discarded_tile(i)).id);
            return out;
          },
          "Ids of the tiles that fitted nowhere.")
      .def_property_readonly(
          "tiles",
          [](const PyState& self) {
            py::typing::List<PyTile> out;
            for (int i = 0; i < self.state.laid_tiles(); ++i) out.append(make_tile(self.state, i));
            return out;
          },
          "Laid tiles in the order of play, the start tile first.")
      .def(
          "tile_at",
          [](const PyState& self, Whole<int, "x"> x, Whole<int, "y"> y) -> std::optional<PyTile> {
            if (!cell_in_range(x, y)) return std::nullopt;
            const int i = self.state.tile_at({static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)});
            return i < 0 ? std::nullopt : std::optional(make_tile(self.state, i));
          },
          py::arg("x"), py::arg("y"))
      .def_property_readonly(
          "figures",
          [](const PyState& self) {
            py::typing::List<Figure> out;
            for (int i = 0; i < self.state.figures_on_board(); ++i) out.append(self.state.figure(i));
            return out;
          },
          "Figures on the board.")
      .def_property_readonly(
          "open_cells",
          [](const PyState& self) {
            py::typing::List<py::typing::Tuple<int, int>> out;
            for (int i = 0; i < self.state.open_cells(); ++i)
              out.append(py::make_tuple(self.state.open_cell(i).x, self.state.open_cell(i).y));
            return out;
          },
          "Empty cells next to a tile, by y, then x.")
      .def(
          "features", [](const PyState& self) { return find_features(self.state); },
          "All features of the board, found afresh from the tiles.")
      .def(
          "placements",
          [](const PyState& self, const Text<"tile">& tile) {
            py::typing::List<Action> out;
            self.state.placements(named_type(self, tile)).for_each([&](Action a) { out.append(a); });
            return out;
          },
          py::arg("tile"), "Where a tile of this type could be laid if it were drawn now.")
      .def("legal_actions", &legal_actions,
           "Legal actions in a fixed order: placements by y, x, rotation; figures: none, meeples, abbot, taken back.")
      .def("num_legal_actions", [](const PyState& self) { return self.state.num_legal_actions(); })
      .def(
          "is_legal", [](const PyState& self, Action a) { return self.state.is_legal(a); }, py::arg("action"))
      .def(
          "apply", [](PyState& self, Action a) { self.state.apply_checked(a); }, py::arg("action"),
          "Apply an action; raises IllegalAction and changes nothing if it is not legal.")
      .def(
          "apply", [](PyState& self, const ActionLike& a) { self.state.apply_checked(to_action(self.state, a)); },
          py::arg("action"), "Apply an action given as an Action or as text (\"D@0,-1r2\", \"city:N\", \"-\").")
      .def(
          "apply_action",
          [](PyState& self, const ActionLike& a) { self.state.apply_checked(to_action(self.state, a)); },
          py::arg("action"), "The same as apply.")
      .def(
          "action_to_string", [](const PyState& self, Action a) { return action_to_string(self.state, a); },
          py::arg("action"))
      .def(
          "string_to_action",
          [](const PyState& self, const Text<"text", NotationError>& text) {
            return string_to_action(self.state, text.value);
          },
          py::arg("text"), "Read an action; raises NotationError or IllegalAction.")
      .def(
          "clone", [](const PyState& self) { return self; }, "An independent copy.")
      .def(
          "hash", [](const PyState& self) { return self.state.hash(); }, "64 bits, equal for equal positions.")
      .def(
          "check_consistency", [](const PyState& self) { self.state.check_consistency(); },
          "Recompute everything from the tiles; raises RecordError at the first difference.")
      .def("to_json", [](const PyState& self) { return state_to_json(self.state); })
      .def("to_dict", &state_dict, "The position as plain values (the JSON form).")
      .def_static(
          "from_json", [](const Text<"text", RecordError>& text) { return state_from_text(text); }, py::arg("text"),
          "Read what to_json wrote; raises RecordError for damage.")
      .def(
          "__eq__", [](const PyState& a, const PyState& b) { return a.state == b.state; }, py::is_operator())
      .def(
          "__eq__", [](const PyState&, const py::object&) { return false; }, py::is_operator())
      .def("__str__", [](const PyState& self) { return board_text(self.state); })
      .def("__repr__",
           [](const PyState& self) {
             return "<GameState: " + std::to_string(self.state.laid_tiles()) + " tiles laid, " +
                    std::to_string(self.state.tiles_left()) + " left, phase " +
                    kPhaseNames[static_cast<std::size_t>(self.state.phase())] + ">";
           })
      .def(py::pickle([](const PyState& self) { return PickledText{{state_to_json(self.state)}}; },
                      [](const PickledText& pickled) { return state_from_text(pickled.item); }));
  bind_copies(state);
  state.attr("__hash__") = py::none();
}

}  // namespace carc::python
